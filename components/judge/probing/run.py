"""The probe of a judge, by the protocol that it will be asked with."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.judge.memory import Ledger
from components.judge.probing.chat import probe_chat
from components.judge.probing.echo import probe_echo
from components.judge.probing.report import ProbeReport

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec


async def probe(
    spec: "JudgeSpec", reward: "RewardSpec", url: str, ledger: Ledger | None = None, state: Path | None = None
) -> ProbeReport:
    """Check that the judge answers, has the model, repeats itself and gives verdicts on texts whose truth is known.

    Args:
        spec: the judge.
        reward: the protocol and its settings.
        url: base URL without ``/v1``.
        ledger: gets every call, and what it has of this judge counts for the budget; the caller closes it.
        state: folder of this machine's state, where the judge's tokenizer may lie.

    Raises:
        JudgeError: one of these does not hold, or the judge's budget is used up; says which, and what to do.
    """
    if reward.protocol == "likelihood_ratio":
        return await probe_echo(spec, reward, url, ledger, state)
    return await probe_chat(spec, reward, url, ledger, state)
