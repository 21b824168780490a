"""The figures' data on workflows: what is drawn, and what the reader downloads, from one and the same rows."""

from collections.abc import Sequence

from components.drawing.figure import Cell, Figure
from components.monitor.samples import TERMS
from components.report import format as fmt
from components.report.heldout import Unit
from components.report.tasks.workflows import Workflows


def workflow_figures(found: Workflows) -> list[Figure]:
    """All figures in the order of the report; those without any data are left out."""
    figures = [validity(found), reward_parts(found), failures(found), cost(found), buffer(found), models(found)]
    return [*[figure for figure in figures if figure.rows], *([gains(found)] if gains(found).rows else [])]


def validity(found: Workflows) -> Figure:
    """Shares of valid workflows and of right answers over the steps."""
    rows: list[tuple[Cell, ...]] = []
    for step, each in found.steps.items():
        shares = [cell for one in (each.valid, each.right) for cell in (one.value, one.low, one.high)]
        rows.append((step, *shares, each.tally.abstained / each.tally.responses, each.tally.responses))
    return Figure(
        "workflow_validity",
        "Valid workflows and right answers",
        "Shares of the responses of each step, with intervals over its prompts. Where there is no answer, it is not "
        "right; what abstained is in neither share.",
        _ends(rows, {1: "valid", 4: "right"}),
        ("step", "valid", "valid_low", "valid_high", "right", "right_low", "right_high", "abstained", "responses"),
        tuple(rows),
    )


def reward_parts(found: Workflows) -> Figure:
    """Means of the reward's weighted terms over the steps."""
    rows: list[tuple[Cell, ...]] = [
        (step, each.tally.reward, *(each.parts.get(term) for term in TERMS)) for step, each in found.steps.items()
    ]
    return Figure(
        "workflow_reward_parts",
        "Parts of the reward",
        "Weighted terms, means over the answers that were scored; the mean reward is over all responses with one, "
        "invalid and failed ones with the scale's lowest value among them.",
        _ends(rows, {1: "reward", 2: TERMS[0]}),
        ("step", "reward", *TERMS),
        tuple(rows),
    )


def failures(found: Workflows) -> Figure:
    """Why there was no scored answer."""
    rows: list[tuple[Cell, ...]] = [
        (name, each.kind, each.responses, each.share.value, each.share.low, each.share.high)
        for name, each in found.reasons.items()
    ]
    said = [f"{name}: {fmt.level(each.share.value, Unit.SHARE)}" for name, each in found.reasons.items()]
    return Figure(
        "workflow_failures",
        "Why there was no scored answer",
        "Share of all training responses, with intervals over prompts. Invalid and failed ones got the scale's lowest "
        "reward; what abstained got none, and is no fault of the policy.",
        ". ".join(said),
        ("reason", "kind", "responses", "share", "low", "high"),
        tuple(rows),
    )


def cost(found: Workflows) -> Figure:
    """What the executor model was made to do, by executed workflow."""
    rows: list[tuple[Cell, ...]] = []
    for step, each in found.steps.items():
        spent = each.tally.costs
        amounts = (spent.calls, spent.tokens, spent.seconds, spent.money)
        rows.append((step, spent.workflows, *(spent.each(amount) for amount in amounts)))
    if not any(row[1] for row in rows):
        rows = []
    return Figure(
        "workflow_cost",
        "Cost of a workflow",
        "Means over the workflows of each step that were executed: calls of operators, tokens that the executor model "
        "read and wrote, and seconds at work.",
        _ends(rows, {2: "calls", 3: "tokens", 4: "seconds"}),
        ("step", "workflows", "calls", "tokens", "seconds", "money"),
        tuple(rows),
    )


def buffer(found: Workflows) -> Figure:
    """How the buffer filled."""
    kept = found.buffer
    names = tuple(kept.entries) if kept is not None else ()
    rows: list[tuple[Cell, ...]] = []
    if kept is not None and names:
        rows = [(step, *(there[name] for name in names)) for step, there in kept.steps.items()]
    return Figure(
        "workflow_buffer",
        "Experience buffer",
        "Entries of each domain that are in the buffer at the end, by the step that brought them.",
        _ends(rows, dict(enumerate(names, 1))),
        ("step", *names),
        tuple(rows),
    )


def models(found: Workflows) -> Figure:
    """Accuracy and cost of the models that were tested."""
    rows: list[tuple[Cell, ...]] = []
    said = []
    for each in found.models:
        mean = each.means.get("weighted_4_3_3", (None, None, None))
        spent = (each.tokens, each.seconds, each.money)
        rows.append(
            (
                *(each.name, each.label, *mean, each.answers, each.right, each.unknown),
                each.valid / each.checked if each.checked else None,
                *(each.per_answer(amount) for amount in spent),
                *(each.per_right(amount) for amount in spent),
            )
        )
        said.append(f"{each.label}: {fmt.level(mean[0], Unit.SHARE)}, {_tokens(each.per_right(each.tokens))}")
    return Figure(
        "workflow_models",
        "Models on the test sets",
        "Accuracy as the mean 4:3:3 of the domains with its interval, and tokens of the executor model for each right "
        "answer, those spent on other answers included.",
        ". ".join(said),
        (
            *("model", "label", "accuracy", "low", "high", "answers", "right", "unknown", "valid"),
            *("tokens_per_answer", "seconds_per_answer", "money_per_answer"),
            *("tokens_per_right", "seconds_per_right", "money_per_right"),
        ),
        tuple(rows),
    )


def gains(found: Workflows) -> Figure:
    """The trained model beside each other one, on the same tasks."""
    rows: list[tuple[Cell, ...]] = [
        (each.name, each.label, table, gain.n, gain.other, gain.trained, gain.gain, gain.low, gain.high)
        for each in found.models
        for table, gain in each.gains.items()
    ]
    said = [
        f"trained less {each.label.lower()}: {fmt.change(gain.gain, Unit.SHARE)}{fmt.noun(Unit.SHARE)}"
        for each in found.models
        if (gain := each.gains.get("weighted_4_3_3")) is not None
    ]
    return Figure(
        "workflow_gains",
        "The trained policy beside the others",
        "Accuracy of the trained policy less that of each other model, mean 4:3:3 of the domains, paired by task. The "
        "data have each set as well.",
        ". ".join(said),
        ("model", "label", "table", "n", "accuracy", "trained", "gain", "low", "high"),
        tuple(rows),
    )


def _tokens(value: float | None) -> str:
    return "no right answer" if value is None else f"{fmt.count(value)} tokens a right answer"


def _ends(rows: Sequence[tuple[Cell, ...]], columns: dict[int, str]) -> str:
    """First and last value of some columns in words."""
    if not rows:
        return ""
    said = []
    for column, name in columns.items():
        first, last = rows[0][column], rows[-1][column]
        ends = [f"{value:.3g}" if isinstance(value, int | float) else fmt.UNKNOWN for value in (first, last)]
        said.append(f"{name}: {ends[0]} at step {rows[0][0]}, {ends[1]} at step {rows[-1][0]}")
    return ". ".join(said)
