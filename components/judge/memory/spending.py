"""What an earlier step of a run spent on a judge, from the calls that it published."""

from pathlib import Path

from components.core.contracts import CALLS, read_table
from components.judge.calls import Usage
from components.judge.memory.budget import Price, Spent


def spent_in(path: Path, judge: str, price: Price | None) -> Spent:
    """Sums over the calls to ``judge`` in a table of calls; costs as in :meth:`Ledger.spent`.

    Raises:
        ContractError: the table is missing, or breaks its contract.
    """
    calls, tokens, cost = 0, 0, 0.0
    for row in read_table(path, CALLS).to_pylist():
        if row["judge"] != judge:
            continue
        usage = Usage(row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"])
        calls += row["attempts"]
        tokens += usage.prompt + usage.completion
        if price is None or row["currency"] == price.currency:
            cost += row["cost"] or 0.0
        else:
            cost += price.cost(usage)
    return Spent(calls, tokens, cost)
