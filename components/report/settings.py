"""What the report says about the experiment, taken from its specification."""

import dataclasses
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import yaml

from components.report.figures import JUDGES_REWARD
from components.scaffold.schedule import step_share

if TYPE_CHECKING:
    from components.core.spec import Experiment

SAME_MODEL = "The judge is the same model as the policy."
RANKS_ONLY = (
    "The judge was asked by likelihood ratio: its values rank responses against each other and are no calibrated "
    "probabilities of a criterion being met."
)
ZEROES = (
    "CONTROL ARM: training counted every sample that could not be judged as reward 0 (reward.failures: "
    "zero_as_control). What this policy learnt is no measure of its judge; compare it with the same arm under masked."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The judge as the report names it.

    Attributes:
        name: of the judge.
        text: name, family and size.
        weak: why it is weak; None when it is not said to be.
        same_as_policy: judge and policy come from one and the same weights.
        ranks_only: it was asked by a protocol whose values only rank.
        zeroes: training counted its failures as 0.
    """

    name: str
    text: str
    weak: str | None
    same_as_policy: bool
    ranks_only: bool = False
    zeroes: bool = False

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before any number."""
        found = [(ZEROES, self.zeroes), (self.weak, self.weak), (SAME_MODEL, self.same_as_policy)]
        return [text for text, applies in found if text and applies]

    @property
    def scale(self) -> str | None:
        """What its numbers are not; None where nothing is to be said."""
        return RANKS_ONLY if self.ranks_only else None


def judged(experiment: "Experiment") -> Judged:
    """The judge of ``experiment``, or its panel."""
    judges, policy = experiment.judges(), experiment.policy
    text = ", ".join(f"{judge.name} (family {judge.family}, {parameters(judge.parameters)})" for judge in judges)
    same = any(judge.source is not None and judge.source.identity() == policy.source.identity() for judge in judges)
    ranks = experiment.reward.protocol == "likelihood_ratio"
    zeroes = experiment.reward.fails_to_zero
    if experiment.panel is None:
        return Judged(judges[0].name, text, judges[0].weak, same, ranks, zeroes)
    weak = " ".join(f"{judge.name}: {judge.weak}" for judge in judges if judge.weak is not None)
    panel = f"{experiment.panel.name}, the {experiment.panel.combine} of {text}"
    return Judged(experiment.panel.name, panel, weak or None, same, ranks, zeroes)


def parameters(number: int | None) -> str:
    """A model's size, such as ``134.5 million parameters``."""
    if number is None:
        return "number of parameters unknown"
    for scale, name in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= scale:
            return f"{number / scale:.1f} {name} parameters"
    return f"{number} parameters"


def counted(number: int, noun: str) -> str:
    """A number with its noun, which takes an s unless it is one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def what_was_trained(experiment: "Experiment") -> str:
    """One sentence: policy, method, extent."""
    policy, training = experiment.policy, experiment.training
    lora = training.lora
    part = f"low-rank adapters of rank {lora.rank}" if lora else "all weights"
    return (
        f"{policy.name} ({parameters(policy.parameters)}, licence {policy.licence}) was trained by GRPO: {part}, "
        f"{counted(training.steps, 'step')} of {counted(training.prompts_per_step, 'prompt')} with "
        f"{counted(training.rollouts_per_prompt, 'rollout')} "
        f"each, learning rate {training.learning_rate:g}, seed {experiment.seed}."
    )


def what_was_shown(experiment: "Experiment") -> str | None:
    """How much of their rubric training prompts carried, in one sentence; None where they carried nothing."""
    training, spec = experiment.training, experiment.training.scaffold
    if spec is None:
        return None
    group, steps = training.rollouts_per_prompt, training.steps
    if spec.group == "binary":
        who = f"in a group of {group} the first {min(spec.full, group)} the whole of it and the others nothing"
    else:
        who = f"in a group of {group} from the whole of it for the first to nothing for the last, in even shares"
    first, last = (step_share(spec, step, steps) for step in (1, steps))
    over = {
        "none": "this stayed so over all steps",
        "sigmoid": f"all of this times a share that fell as a sigmoid around {100 * spec.midpoint:g} % of the steps",
        "linear": "all of this times a share that fell evenly over the steps",
        "power": f"all of this times a share that fell as the part of the steps left, to the power {spec.power:g}",
    }[spec.decay]
    ends = "" if spec.decay == "none" else f", from {100 * first:.0f} % at step 1 to {100 * last:.0f} % at step {steps}"
    return (
        f"While training, prompts carried part of their rubric (a scaffold): {who}; {over}{ends}. So the reward while "
        "training mixes answers that were told what is looked for and answers that were not; the held-out prompts "
        "carried nothing."
    )


CONTROLS = {
    "rule_only": "the share of the rows' rule lines that hold",
    "length": "the words of the response over {reward.length_target}, at most 1",
    "random": "a number drawn evenly from 0 to 1, whatever the response",
    "format": "the share of marks of a well-formed text, whatever it says",
}
"""The rewards of control arms in words."""


def reward_in_full(experiment: "Experiment") -> str:
    """The reward by its name and by all that tells it from another of that name."""
    reward, data = experiment.reward, experiment.data
    told = f"combine {reward.combine}, protocol {reward.protocol}, value {reward.value}"
    return f"{reward.name} ({told}{f', data.constraints {data.constraints}' if data.kind == 'verif_rows' else ''})"


def trained_by(experiment: "Experiment") -> str:
    """What the reward while training is called: that of a control arm is no judge's."""
    reward = experiment.reward
    if reward.combine == "workflow":
        return "Workflow's reward"
    return JUDGES_REWARD if reward.asks_in_training else f"Control arm's reward ({reward.combine})"


def what_was_rewarded(experiment: "Experiment") -> str:
    """The beginning of a sentence that the criteria end: how the reward was made, and by whom."""
    reward = experiment.reward
    judge = f"the judge {judged(experiment).text}, asked by the protocol {reward.protocol}"
    if reward.combine in CONTROLS:
        what = CONTROLS[reward.combine].format(reward=reward)
        return (
            f"This is a control arm (combine {reward.combine}): the reward was {what}, and no judge was asked in "
            f"training. The held-out answers were scored by {judge}"
        )
    if reward.combine == "verif":
        return f"The reward was VerIF's (combine verif): the mean of the rule checks times what came from {judge}"
    clipped = "" if reward.clip else " (sums below 0 stayed below 0)"
    return f"The reward{clipped} came from {judge}"


def what_was_checked(experiment: "Experiment", *, checked: bool = True, own: bool = False) -> str:
    """One sentence: the gold check in words.

    Args:
        experiment: gives the checks that rows without their own have.
        checked: whether any answer had one.
        own: whether prompts bring checks of their own.
    """
    gold = experiment.data.gold
    if not checked:
        return "The prompts have no hidden checks: all that is known of an answer is what judge and rules say of it."
    if own or gold is None or gold.word_list is None:
        return "An answer passes the gold check by the hidden checks of its own prompt, which the judge does not see."
    echo = " and does not parrot the criterion" if gold.echo else ""
    return (
        f"An answer passes the gold check when it holds a word of the hidden list “{gold.word_list}”, is prose of "
        f"{gold.min_words} to {gold.max_words} words{echo}. The judge sees none of this."
    )


def training_settings(experiment: "Experiment") -> Sequence[tuple[str, str]]:
    """Settings of training, reward and evaluation, as name and value."""
    rows = []
    for part in ("training", "reward", "evaluation"):
        for key, value in json.loads(experiment.to_json())[part].items():
            rows.append((f"{part}.{key}", _plain(value)))
    return [("seed", str(experiment.seed)), *rows]


def _plain(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_plain(inner) for inner in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_yaml(experiment: "Experiment") -> str:
    """The whole resolved experiment."""
    return yaml.safe_dump(json.loads(experiment.to_json()), sort_keys=False, allow_unicode=True, width=100)
