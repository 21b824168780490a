"""The draw of a mixture inside verl: its data loader's sampler, and what a step's metrics say of it.

Trainer, data loader and replay buffer live in one process, which draws for one run: what was drawn is kept here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import torch.utils.data
import transfer_queue as tq  # type: ignore[import-untyped, import-not-found, unused-ignore]

from components.core.draw import read_plan
from components.core.errors import ContractError
from components.engine.draw import Draw

_COUNT: Final = "drawn"
_IDENTITY: Final = "identity"


class MixtureSampler(torch.utils.data.Sampler[int]):  # type: ignore[misc]
    """Row numbers without end; a stateful data loader goes on where its checkpoint was.

    Args:
        plan: path of ``draw.json``.
        sources: the set of each row.
        batch: prompts in a batch.
        seed: of the experiment.
        left_out: rows of the table that are not among them, since their prompts are too long.
    """

    def __init__(self, plan: Path, sources: Sequence[str], *, batch: int, seed: int, left_out: int = 0) -> None:
        self._plan, self.left_out = read_plan(plan), left_out
        self._sources, self._batch, self._seed = list(sources), batch, seed
        self.domains = self._plan.domains

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[int]:
        return _Position(self)

    def draw(self) -> Draw:
        """A draw from the start."""
        return Draw(self._plan, self._sources, batch=self._batch, seed=self._seed)


class _Position(Iterator[int]):
    """Where a run is in the order; its state is the number of prompts drawn."""

    def __init__(self, sampler: MixtureSampler) -> None:
        self._sampler = sampler
        self._draw = sampler.draw()

    def __iter__(self) -> "_Position":
        return self

    def __next__(self) -> int:
        row = next(self._draw)
        RECORD.note(self._draw, self._sampler.domains, self._sampler.left_out)
        return row

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {_COUNT: self._draw.count, _IDENTITY: self._draw.identity}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint.

        Raises:
            ContractError: it is of another draw: other rows, shares, batch or seed.
        """
        draw = self._sampler.draw()
        if state[_IDENTITY] != draw.identity:
            raise ContractError(
                "the checkpoint was made with another draw (rows, shares, batch or seed)",
                where="data.pt",
                remedy="train from the start",
            )
        draw.skip(state[_COUNT])
        self._draw = draw


class Record:
    """What was drawn since the last step's metrics."""

    def __init__(self) -> None:
        self._step: Counter[str] = Counter()
        self._draw: Draw | None = None
        self._left_out = 0
        self.domains: Mapping[str, str] = {}

    def note(self, draw: Draw, domains: Mapping[str, str], left_out: int = 0) -> None:
        """A prompt was drawn."""
        self._step[draw.newest] += 1
        self._draw, self.domains, self._left_out = draw, domains, left_out

    @property
    def active(self) -> bool:
        """Whether this run draws a mixture."""
        return self._draw is not None

    def take(self) -> dict[str, float]:
        """A step's metrics, and begin the next step.

        Returns:
            ``draw/prompts`` drawn in the step, those for refilled groups among them; ``draw/share/NAME`` of each set
            and domain in these; ``draw/all/NAME`` in all prompts since training began, and since then
            ``draw/epochs/SET`` and ``draw/over_cap``, prompts beyond the repeat cap. ``draw/left_out`` are the rows
            whose prompts are too long.
        """
        if self._draw is None:
            return {}
        step, self._step = self._step, Counter()
        return {
            "draw/prompts": float(step.total()),
            "draw/over_cap": float(self._draw.over_cap),
            "draw/left_out": float(self._left_out),
            **self.shares("share", step),
            **self.shares("all", self._draw.drawn),
            **{f"draw/epochs/{name}": passes for name, passes in self._draw.epochs.items()},
        }

    def shares(self, kind: str, counts: Counter[str]) -> dict[str, float]:
        """``draw/KIND/SET`` and ``draw/KIND/domain_DOMAIN`` (MATH is a set of the domain math); nothing where nothing
        was counted."""
        total = counts.total()
        if not total:
            return {}
        domains: Counter[str] = Counter({f"domain_{domain}": 0 for domain in self.domains.values()})
        for name, count in counts.items():
            domains[f"domain_{self.domains[name]}"] += count
        named = {name: counts[name] for name in self.domains} | domains
        return {f"draw/{kind}/{name}": count / total for name, count in sorted(named.items())}


RECORD: Final = Record()
"""Of this process."""


def kept_shares(batch: tq.KVBatchMeta) -> dict[str, float]:
    """``draw/kept/NAME``: of the groups that are not masked as a whole, the share of each set and domain.

    Args:
        batch: sampled, judged and masked; keys are ``GROUP_SESSION_INDEX``.
    """
    data = tq.kv_batch_get(
        keys=batch.keys, partition_id=batch.partition_id, select_fields=["data_source", "response_mask"]
    )
    kept: dict[str, str] = {}
    for key, name, mask in zip(batch.keys, list(data["data_source"]), list(data["response_mask"]), strict=True):
        if bool(mask.any()):
            kept[key.rsplit("_", 2)[0]] = str(getattr(name, "data", name))
    return RECORD.shares("kept", Counter(kept.values()))


def sampler_for(data_config: Any, dataset: Any) -> MixtureSampler:
    """The sampler of a run whose configuration has ``data.gavel_draw``.

    Args:
        data_config: verl's section ``data``.
        dataset: verl's, whose ``dataframe`` has the rows.
    """
    sources = [str(name) for name in dataset.dataframe["data_source"]]
    return MixtureSampler(
        Path(data_config["gavel_draw"]),
        sources,
        batch=int(data_config["train_batch_size"]),
        seed=int(data_config["seed"]),
        left_out=pq.read_metadata(data_config["train_files"]).num_rows - len(sources),
    )
