"""Prompts from shipped text files: every template with every subject."""

from pathlib import Path

from components.core.errors import ConfigError, ContractError
from components.data.item import Item
from components.data.splitting import rank
from components.gold.checks import GoldChecks
from components.judge.verdict import Criterion

FOLDER = Path(__file__).parent
SLOT = "{subject}"
TOPIC = "{topic}"


def read_lines(path: Path) -> list[str]:
    """The non-empty lines of a text file, stripped.

    Raises:
        ContractError: the file is missing, empty, or repeats a line.
    """
    if not path.is_file():
        raise ContractError("the file is missing", where=str(path))
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    repeated = sorted({line for line in lines if lines.count(line) > 1})
    if repeated or not lines:
        raise ContractError(
            f"line {repeated[0]!r} stands there twice" if repeated else "the file is empty",
            where=str(path),
            remedy="one template or subject a line, each once",
        )
    return lines


def sentence_items(
    templates_file: Path,
    subjects_file: Path,
    rows: int,
    *,
    seed: int,
    criteria: tuple[Criterion, ...],
    gold: GoldChecks,
    topic: str | None = None,
) -> list[Item]:
    """The first ``rows`` requests of one split, templates and subjects used about equally often.

    Args:
        templates_file: one template a line, with ``{subject}`` in it.
        subjects_file: one subject a line.
        rows: how many to return.
        seed: decides which subject meets which template first, and the order.
        criteria: put on every item.
        gold: put on every item.
        topic: stands for ``{topic}`` in the templates that have it.

    Raises:
        ConfigError: the files give fewer than ``rows`` distinct requests, or topic and templates do not go together.
        ContractError: a file is missing, repeats a line, or a template does not name its subject once.
    """
    templates, subjects = read_lines(templates_file), read_lines(subjects_file)
    for template in templates:
        if template.count(SLOT) != 1:
            raise ContractError(f"template {template!r} must hold {SLOT} exactly once", where=str(templates_file))
        if template.count(TOPIC) != (0 if topic is None else 1):
            raise ConfigError(
                f"template {template!r} and data.topic {topic!r} do not go together",
                where=str(templates_file),
                remedy=f"name other files in data.train_templates and data.heldout_templates: templates hold {TOPIC} "
                "once where data.topic is given, and never where it is null",
            )
    if rows > len(templates) * len(subjects):
        raise ConfigError(
            f"{rows} rows are asked for, and {len(templates)} templates with {len(subjects)} subjects give "
            f"{len(templates) * len(subjects)}",
            where=f"{templates_file.name}, {subjects_file.name}",
            remedy="lower data.train_rows or data.heldout_rows, or add templates or subjects",
        )
    templates.sort(key=lambda template: rank(seed, "template", template))
    subjects.sort(key=lambda subject: rank(seed, "subject", subject))
    # Template t starts t/len(templates) of the way round the subjects: any number of rows uses all about equally often.
    starts = [place * len(subjects) // len(templates) for place in range(len(templates))]
    pairs = [
        (template, subjects[(start + turn) % len(subjects)])
        for turn in range(len(subjects))
        for template, start in zip(templates, starts, strict=True)
    ]
    return [
        Item(question=_fill(template, subject, topic), template=template, criteria=criteria, gold=gold)
        for template, subject in pairs[:rows]
    ]


def _fill(template: str, subject: str, topic: str | None) -> str:
    return template.replace(SLOT, subject).replace(TOPIC, topic or "")
