"""Why a judge's work came to an end, from its ledger: what it said last, and which limit of its budget is reached."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import JudgeError
from components.judge.memory import Budget, Ledger, Price, Spent
from components.judge.memory.spending import spent_in
from components.judge.verdict import PARSE_REASONS

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.judge import JudgeSpec

_NEWEST = 64

_QUOTED = 160
"""Characters quoted of a reply."""


def newest_words(ledger: Ledger) -> str | None:
    """The most frequent of the newest failures, as the judge's server or the engine put it, with the beginning of the
    newest reply that could not be read; None without any.

    Replies are quoted from the ledger, where keys are blanked as in all that the transport hands on.
    """
    found = ledger.select(
        "SELECT detail FROM (SELECT detail, rowid AS place FROM failures ORDER BY rowid DESC LIMIT ?) "
        "GROUP BY detail ORDER BY COUNT(*) DESC, MAX(place) DESC LIMIT 1",
        (_NEWEST,),
    )
    if not found:
        return None
    quoted = _newest_unreadable(ledger)
    return str(found[0][0]) if quoted is None else f"{found[0][0]}; the newest unreadable reply begins {quoted}"


def _newest_unreadable(ledger: Ledger) -> str | None:
    reasons = sorted(PARSE_REASONS)
    found = ledger.select(
        "SELECT body FROM (SELECT body, sample_id, rowid AS place FROM failures ORDER BY rowid DESC LIMIT ?) AS failed "
        "WHERE body IS NOT NULL AND EXISTS (SELECT 1 FROM verdicts WHERE verdicts.sample_id = failed.sample_id "
        f"AND reason IN ({', '.join('?' * len(reasons))})) ORDER BY place DESC LIMIT 1",
        (_NEWEST, *reasons),
    )
    if not found:
        return None
    text = " ".join(bytes(found[0][0]).decode("utf-8", "replace").split())
    return repr(text[:_QUOTED]) + (" ..." if len(text) > _QUOTED else "")


def over_budget(experiment: "Experiment", ledger: Ledger, goes_on: str, *, earlier: Sequence[Path] = ()) -> JudgeError:
    """The error of a run that spent what it may on a judge.

    Args:
        experiment: with the judges and their budgets.
        ledger: of the step.
        goes_on: how the step goes on once the limit is raised.
        earlier: tables of calls that earlier steps of the run published; they count as well.
    """
    place = "judge" if experiment.panel is None else "the panel's member"
    if experiment.workflow is not None:
        place = "workflow.executor"
    served = experiment.served() or experiment.judges()
    found = [
        line
        for line in (_reached(spec, ledger, earlier, _called(spec, experiment)) for spec in served)
        if line is not None
    ]
    what = "; ".join(found) or f"the budget of judge {experiment.verdict_name} allows for no further call"
    return JudgeError(
        f"{what}. What was judged is kept",
        where=f"budget of {place}",
        remedy=f"raise the limit and run the same command again: {goes_on}, and what was spent counts",
    )


def _called(spec: "JudgeSpec", experiment: "Experiment") -> str:
    workflow = experiment.workflow
    return f"executor {spec.name}" if workflow is not None and spec == workflow.executor else f"judge {spec.name}"


def _reached(spec: "JudgeSpec", ledger: Ledger, earlier: Sequence[Path], called: str) -> str | None:
    """Which limit the model's calls have reached, or would with those that were expected to cost what others did."""
    price = None if spec.price is None else Price.of(spec.price)
    each = [ledger.spent(spec.name, price), *(spent_in(path, spec.name, price) for path in earlier)]
    spent = Spent(sum(one.calls for one in each), sum(one.tokens for one in each), sum(one.cost for one in each))
    limits = {name: limit for name, limit in spec.budget.model_dump().items() if limit is not None}
    if not limits:
        return None
    total = f"{spent.calls} calls, {spent.tokens} tokens"
    if price is not None:
        total += f", {spent.cost:.6g} {price.currency}"
    reached = Budget(spec.budget, price, spent).reached
    if reached is None:
        listed = ", ".join(f"budget.{name} {limit}" for name, limit in limits.items())
        return f"{called} is so close to a limit of its budget ({listed}) that no call fits; spent: {total}"
    return f"{called} has reached its budget: {reached}; spent: {total}"
