"""Runs probes on one judge: builds the items, asks, and gathers the outcomes."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.bias.asking import Asking
from components.bias.items import items_of
from components.bias.mounted import NOTHING, Mounted
from components.bias.narrowing import narrowed
from components.bias.probe import Probe, Request, Skip
from components.bias.together import together
from components.bias.types import Item, Mode, Outcome
from components.core.progress import Progress
from components.judge.memory import Ledger

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

_LEAST_REPEATS: Final = 2
"""Repetitions of a probe that lives on them, whatever was asked for."""


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """The items of one probe in one mode."""

    probe: Probe
    mode: Mode
    items: tuple[Item, ...]
    repeats: int

    @property
    def calls(self) -> int:
        """Units of work: an item asked once."""
        return len(self.items) * (1 + self.repeats)


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A probe that is not run, in one mode or (None) at all, and why."""

    probe: str
    mode: Mode | None
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What will be asked."""

    parts: tuple[Part, ...]
    skipped: tuple[Skipped, ...]

    @property
    def calls(self) -> int:
        """Items asked, repetitions included."""
        return sum(part.calls for part in self.parts)


def plan_probes(
    spec: "JudgeSpec",
    reward: "RewardSpec",
    probes: Sequence[Probe],
    modes: Sequence[Mode],
    n_items: int,
    seed: int,
    repeats: int = 0,
    mounted: Mounted = NOTHING,
    criteria: int | None = None,
) -> Plan:
    """What is asked of a judge, and what is left out with the reason.

    Args:
        spec: the judge.
        reward: the protocol under which it is probed.
        probes: see :func:`components.bias.probe.named`.
        modes: those wanted.
        n_items: items a probe.
        seed: of what the items draw.
        repeats: repetitions in probes that live on them; at least two there.
        mounted: data sets of the user.
        criteria: of each shipped text, at most; None asks about all (:func:`components.bias.narrowing.narrowed`).

    Raises:
        ContractError: a probe breaks the limits of :mod:`components.bias.items`, or the mounted folder is not there or
            has no file that can be read.
    """
    mounted.check()
    request = Request(seed, mounted, spec.model_name, spec.family)
    parts, skipped = [], []
    for probe in probes:
        items = items_of(probe, request, n_items)
        if isinstance(items, Skip):
            skipped.append(Skipped(probe.name, None, items.reason))
            continue
        if criteria is not None:
            items = narrowed(items, criteria)
        for mode in dict.fromkeys(modes):
            lack = Asking.lacks(reward, mode) if mode in probe.modes else probe.leaves_out
            if lack is not None:
                skipped.append(Skipped(probe.name, mode, lack))
                continue
            again = max(repeats, _LEAST_REPEATS) if probe.repeats else 0
            parts.append(Part(probe, mode, tuple(items), again))
    return Plan(tuple(parts), tuple(skipped))


async def ask_plan(
    asking: Asking,
    plan: Plan,
    *,
    concurrency: int,
    progress: Progress | None = None,
    keep: Callable[[Sequence[Outcome]], None] | None = None,
) -> list[Outcome]:
    """Ask all that is planned; outcomes in the plan's order.

    Args:
        asking: the judge.
        plan: what to ask.
        concurrency: calls that the judge takes at once.
        progress: counts items; one that cannot be told apart from a finished one is no progress.
        keep: gets an item's outcomes as soon as they are there; what it raises ends the work.

    Raises:
        JudgeError: a sample that no judge can be asked about, or the ledger cannot be written.
        GavelError: of ``keep``.
    """
    # An item's forms are asked together, so that there are more calls than the judge takes, and yet few items whose
    # beginnings its server has to remember.
    room = asyncio.Semaphore(max(1, concurrency))

    async def one(item: Item, mode: Mode, repeat: int) -> list[Outcome]:
        async with room:
            found = await asking.outcomes(item, mode, repeat)
        if keep is not None:
            keep(found)
        if progress is not None:
            unknown = sum(each.value is None for each in found)
            progress.advance(note=f"{item.probe}, {mode.value}" + (f", {unknown} unknown" if unknown else ""))
        return found

    work = (
        one(item, part.mode, repeat) for part in plan.parts for item in part.items for repeat in range(1 + part.repeats)
    )
    return [outcome for found in await together(*work) for outcome in found]


async def run_probes(
    spec: "JudgeSpec",
    endpoint: str,
    probes: Sequence[Probe],
    modes: Sequence[Mode],
    n_items: int,
    seed: int,
    repeats: int = 0,
    ledger: Ledger | None = None,
    state: Path | None = None,
    progress: Progress | None = None,
    *,
    reward: "RewardSpec | None" = None,
    mounted: Mounted = NOTHING,
    identity: str = "",
    criteria: int | None = None,
) -> list[Outcome]:
    """Probe a judge. What was asked before with the same ``state`` comes from the engine's cache.

    Args:
        spec: the judge.
        endpoint: base URL without ``/v1``.
        probes: see :func:`components.bias.probe.named`.
        modes: those wanted; a probe that lacks one is left out there (see :func:`plan_probes`).
        n_items: items a probe.
        seed: of what the items draw.
        repeats: repetitions in probes that live on them.
        ledger: gets a row a call; the caller closes it.
        state: folder of kept replies and shared permits.
        progress: counts items.
        reward: the protocol under which it is probed; None takes :func:`default_reward`.
        mounted: data sets of the user.
        identity: what decides the judge's replies, as text.
        criteria: of each shipped text, at most; None asks about all.

    Raises:
        GavelError: the judge cannot be used as it is configured, or a probe breaks its limits.
    """
    reward = reward or default_reward(spec)
    plan = plan_probes(spec, reward, probes, modes, n_items, seed, repeats, mounted, criteria)
    if progress is not None:
        progress.begin(plan.calls, "item")
    asking = Asking(spec, reward, endpoint, ledger, state=state, identity=identity)
    try:
        return await ask_plan(asking, plan, concurrency=spec.max_concurrency, progress=progress)
    finally:
        await asking.close()


def default_reward(spec: "JudgeSpec") -> "RewardSpec":
    """By likelihood ratio where the judge is one of base-model size (named ``*-lr``), else by the rubric."""
    from components.core.spec.reward import RewardSpec

    if spec.name.endswith("-lr"):
        return RewardSpec(name="likelihood-ratio", protocol="likelihood_ratio")
    return RewardSpec(name="rubric", protocol="rubric")
