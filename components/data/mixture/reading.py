"""From the experiment's sources to staged rows; rows that cannot be used are told together."""

import contextlib
import functools
import gc
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from components.core.errors import ContractError
from components.core.faults import SHOWN, tell
from components.core.progress import Progress
from components.core.spec.mixture import MbppFiles
from components.core.unique_json import RepeatedKeyError
from components.data.mixture.codetree import tree_number
from components.data.mixture.fetch import Fetched, check_unchanged, fetch
from components.data.mixture.formats import competition_math, custom, gsm8k, hotpotqa, humaneval, mbpp, squad2
from components.data.mixture.goldtext import gold_text
from components.data.mixture.json_tree import is_tree, read_tree
from components.data.mixture.plan import NAMES
from components.data.mixture.records import Found, read_records
from components.data.mixture.row import ANY, TEST, TRAIN, TaskRow
from components.data.mixture.rubric import Rubrics
from components.data.mixture.stage import Stage, Staged
from components.data.mixture.templates import render, template_of
from components.data.mixture.wording import wording_of
from components.data.mixture.words import digest_of, normalised, outlined
from components.judge.rubrics import read_rubric
from components.reward.rows import check_heldout_row, check_row

if TYPE_CHECKING:
    from components.core.spec import Experiment
    from components.core.spec.mixture import DataFile, MixtureSpec

Parse = Callable[[dict[str, Any], str], TaskRow]
_PARSERS: Final[Mapping[str, Parse]] = {
    "gsm8k": gsm8k.parse,
    "math": competition_math.parse,
    "squad2": squad2.parse,
    "humaneval": humaneval.parse,
    "mbpp": mbpp.parse,
    "custom": custom.parse,
}
_NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}


def sources_of(mixture: "MixtureSpec") -> Iterator[tuple[str, str, "DataFile"]]:
    """Set, part and file of each source, in the order of the sets."""
    for name, files in mixture.sources.given.items():
        if isinstance(files, MbppFiles):
            yield from ((name, ANY, file) for file in files.all)
        else:
            yield from ((name, part, file) for part in (TRAIN, TEST) for file in getattr(files, part))


def read_sources(
    experiment: "Experiment", stage: Stage, work: Path, progress: Progress
) -> list[tuple[str, str, Fetched, int]]:
    """Read every file.

    Args:
        experiment: with data of kind mixture.
        stage: gets the rows.
        work: for files that are not on this machine.
        progress: is told of the rows.

    Returns:
        Set, part, file and number of rows.

    Raises:
        ContractError: a file is not what it should be, or rows cannot be used: the first of them in full, by file and
            line, and how many.
        StorageError: a store or the hub cannot be reached.
    """
    mixture = experiment.data.mixture
    assert mixture is not None
    files = [(name, part, fetch(file, work)) for name, part, file in sources_of(mixture)]
    maker = Maker(experiment)
    progress.begin(None, "row")
    counts, troubles = [], []
    for name, part, file in files:
        parse = (
            functools.partial(hotpotqa.parse, facts=mixture.supporting_facts) if name == "hotpotqa" else _PARSERS[name]
        )
        found = _found(name, file)
        try:
            with _no_cycles():
                counts.append((name, part, file, _read(found, parse, part, file.source, maker, stage, progress)))
            check_unchanged(file)
        except ContractError as error:
            troubles.append(error)
    _tell(troubles)
    progress.finish()
    return counts


def _found(name: str, file: Fetched) -> Iterator[Found]:
    if name == "squad2":
        return squad2.read(file.path, file.source)
    if name == "math" and is_tree(file.path, file.source):
        return read_tree(file.path, file.source)
    return read_records(file.path, file.source)


@contextlib.contextmanager
def _no_cycles() -> Iterator[None]:
    """Reading makes millions of values that do not refer to themselves: looking for those that do is a tenth of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _read(
    found: Iterator[Found], parse: Parse, part: str, source: str, maker: "Maker", stage: Stage, progress: Progress
) -> int:
    rows, bad, faults = 0, 0, list[ContractError]()
    for place, value in found:
        rows += 1
        try:
            if isinstance(value, ContractError):
                raise value
            stage.add(maker.make(parse(value, part)))
        except ContractError as error:
            bad += 1
            # Of very many only the number is told, so no more than that is kept.
            if len(faults) < SHOWN:
                faults.append(_placed(error, f"{source}, {place}"))
        if rows % 4096 == 0:
            progress.advance(4096)
    progress.advance(rows % 4096)
    faults += [ContractError("", where=source)] * (bad - len(faults))
    tell(faults, of=rows, source=source)
    if not rows:
        raise ContractError("the file holds no rows", where=source, remedy="give a file with rows")
    return rows


def _placed(error: ContractError, where: str) -> ContractError:
    if isinstance(error, RepeatedKeyError):
        return error.located(where)
    return ContractError(error.what, where=where, remedy=error.remedy)


def _tell(troubles: list[ContractError]) -> None:
    if len(troubles) > 1:
        what = "\n".join(f"{error.where}: {error.what}" for error in troubles)
        remedies = dict.fromkeys(error.remedy for error in troubles if error.remedy)
        raise ContractError(f"{len(troubles)} files cannot be used:\n{what}", remedy="; ".join(remedies))
    if troubles:
        raise troubles[0]


class Maker:
    """Makes of a task what is staged.

    Args:
        experiment: with data of kind mixture.
    """

    def __init__(self, experiment: "Experiment") -> None:
        mixture = experiment.data.mixture
        assert mixture is not None
        self._facts = mixture.supporting_facts
        self._templates = wording_of(experiment).folder
        self._trees = mixture.dedup.code_ast
        self._rubrics = Rubrics(experiment)
        self._reward = experiment.reward
        self._seen: set[str] = set()

    def make(self, row: TaskRow) -> Staged:
        """The row with its prompt, its rubric, its id and the numbers that it is compared by.

        The id is of the data set, the official id, the prompt and the gold: rows of two experiments with one id are
        the same task, asked in the same words.

        Raises:
            ContractError: the reward has no number for rows of this data set.
        """
        problem = render(self._templates, template_of(row, facts=self._facts), row.fields)
        gold = gold_text(row.gold)
        digest = digest_of(row.dataset, row.official_id, problem, gold)
        number = int.from_bytes(digest[:8], "little")
        # Of contexts a check sum is enough: only rows with one text are told apart by it.
        text = digest_of(
            normalised(row.text) if row.context else outlined(row.text), str(zlib.crc32(row.context.encode()))
        )
        group = digest_of(row.dataset, row.group) if row.group else digest
        answer = orjson.dumps(row.answer).decode()
        rubric = self._rubrics.text(row.gold, gold)
        if row.dataset not in self._seen and row.part != TEST:
            # One row a set: the rubrics of a set differ in their gold alone.
            self._seen.add(row.dataset)
            for check in (check_row, check_heldout_row):
                check(self._reward, read_rubric(rubric), row.dataset)
        columns = (
            row.dataset,
            digest.hex(),
            row.official_id,
            problem,
            answer,
            gold,
            rubric,
        )
        return Staged(
            columns,
            _NUMBERS[row.dataset],
            row.part == TEST,
            number,
            row.text,
            int.from_bytes(text[:8], "little"),
            tree_number(row.solution) if self._trees and row.solution else 0,
            int.from_bytes(group[:8], "little"),
        )
