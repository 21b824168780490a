"""Hidden word lists: text files in ``words/``."""

from pathlib import Path

from components.core.errors import ConfigError

FOLDER = Path(__file__).parent / "words"


def word_list_path(name: str) -> Path:
    """The file of a word list.

    Raises:
        ConfigError: there is no list of that name.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.txt"))
    if name not in known:
        raise ConfigError(
            f"there is no word list {name!r}",
            where="data.gold.word_list",
            remedy=f"one of: {', '.join(known)}; or add {name}.txt to {FOLDER.name}/",
        )
    return FOLDER / f"{name}.txt"
