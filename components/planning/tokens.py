"""How much a judge reads and writes, and what that costs by its price."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import components.judge.protocols
from components.core.spec.judge import JudgeSpec
from components.planning.assumptions import Assumptions
from components.planning.calls import Calls, Samples, calls_about, samples_of

if TYPE_CHECKING:
    from components.core.spec import Experiment

_FOLDER = Path(components.judge.protocols.__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class Amount:
    """Calls and tokens; None where not known.

    Attributes:
        calls: to the judge.
        prompt: tokens that it reads.
        reply: tokens that it writes.
    """

    calls: float | None
    prompt: float | None
    reply: float | None

    @property
    def tokens(self) -> float | None:
        """Read and written."""
        return None if self.prompt is None or self.reply is None else self.prompt + self.reply

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(_sum(self.calls, other.calls), _sum(self.prompt, other.prompt), _sum(self.reply, other.reply))

    def cost(self, judge: JudgeSpec) -> float | None:
        """In the currency of the price; None without one, or where tokens are not known."""
        if judge.price is None or self.prompt is None or self.reply is None:
            return None
        return (self.prompt * judge.price.prompt + self.reply * judge.price.completion) / 1e6


@dataclasses.dataclass(frozen=True, slots=True)
class JudgeWork:
    """What one judge is asked over the whole run.

    Attributes:
        judge: who is asked.
        samples: about how many responses.
        training: expected in training.
        scoring: expected for the held-out responses.
        most: all of it at the most: the longest texts, every reply asked for again, every call repeated.
        role: ``judge``, or ``executor`` of workflows.
    """

    judge: JudgeSpec
    samples: Samples
    training: Amount
    scoring: Amount
    most: Amount
    role: str = "judge"

    @property
    def expected(self) -> Amount:
        """In training and for the held-out responses."""
        return self.training + self.scoring


def work_of(experiment: "Experiment", judge: JudgeSpec, assumed: Assumptions) -> JudgeWork:
    """Each judge of a panel is asked about every sample."""
    samples = samples_of(experiment)
    lengths = (experiment.training.max_response_tokens, experiment.evaluation.max_response_tokens)
    full = dataclasses.replace(assumed, fill=1.0)
    expected, most = [], []
    for count, response in zip((samples.training, samples.scoring), lengths, strict=True):
        calls = calls_about(count, experiment, judge.attempts, assumed)
        expected.append(_amount(calls, calls.expected, response, experiment, judge, assumed))
        most.append(_amount(calls, calls.most, response, experiment, judge, full))
    return JudgeWork(judge, samples, expected[0], expected[1], most[0] + most[1])


def _amount(
    calls: Calls,
    number: float | None,
    response: int,
    experiment: "Experiment",
    judge: JudgeSpec,
    assumed: Assumptions,
) -> Amount:
    if number is None:
        return Amount(None, None, None)
    reply = {"likelihood_ratio": 0.0, "rubric_token": 1.0}.get(
        experiment.reward.protocol, judge.max_answer_tokens * assumed.fill
    )
    prompt = _prompt(response, experiment, assumed)
    read = None if calls.texts is None else number * calls.texts * prompt
    return Amount(number, read, number * reply)


def _prompt(response: int, experiment: "Experiment", assumed: Assumptions) -> float:
    """Tokens of one prompt: template, question, responses and criteria. Criteria that come with the rows count as
    none."""
    reward, lines = experiment.reward, [line.text for line in experiment.data.criteria if line.verifier == "llm"]
    if reward.protocol == "likelihood_ratio":
        files = [_FOLDER / "templates" / f"{reward.prompts.conditioned}.txt"]
    else:
        files = [_FOLDER / "prompts" / f"{reward.prompt or reward.protocol}.txt"]
    letters = sum(path.stat().st_size for path in files if path.is_file())
    together = reward.protocol in ("rubric", "verif")
    letters += sum(map(len, lines)) if together else max(map(len, lines), default=0)
    responses = 2 if reward.protocol == "pairwise" else 1
    texts = experiment.training.max_prompt_tokens + responses * response
    return letters / assumed.letters + texts * assumed.fill


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
