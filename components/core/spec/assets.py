"""Files that an experiment names: relative paths made whole, contents read, missing ones reported."""

import hashlib
from pathlib import Path

from components.core.spec.compose import Composer, display
from components.core.spec.data import DataSpec
from components.core.spec.fields import suggestion
from components.core.spec.places import Map
from components.core.spec.problems import mark_of

_COMPONENTS = Path(__file__).resolve().parents[2]
_SENTENCES = ("train_templates", "heldout_templates", "train_subjects", "heldout_subjects")


def locate(composer: Composer, part: str, tree: Map) -> None:
    """Make the paths of one part absolute and fill in what the files hold."""
    if part == "policy" and isinstance(tree.get("chat_template"), str):
        path = _absolute(tree, "chat_template")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            composer.complain(
                "policy.chat_template",
                f"{display(path)} cannot be read ({_reason(error)})",
                mark_of(tree, ("chat_template",)),
                "give the path of a Jinja file in UTF-8",
            )
        else:
            tree.put("chat_template_text", text, tree.marks["chat_template"])
    source = tree.get("source")
    if isinstance(source, Map) and source.get("kind") == "folder" and isinstance(source.get("path"), str):
        _absolute(source, "path")
    if part == "data" and isinstance(location := tree.get("path"), str) and not location.startswith("s3://"):
        _fingerprint(composer, tree, _absolute(tree, "path"))


def check_shipped(composer: Composer, data: DataSpec, tree: Map) -> None:
    """Report word lists and templates that are not there."""
    wanted: list[tuple[str, Path]] = []
    if data.gold.word_list is not None:
        wanted.append(("gold.word_list", _COMPONENTS / "score" / "words" / f"{data.gold.word_list}.txt"))
    if data.kind == "sentences":
        wanted.extend((key, _COMPONENTS / "data" / "sentences" / getattr(data, key)) for key in _SENTENCES)
    for key, path in wanted:
        if path.is_file():
            continue
        short = key == "gold.word_list"
        known = [file.stem if short else file.name for file in path.parent.glob("*.txt")]
        where = mark_of(tree, tuple(key.split(".")))
        remedy = suggestion(path.stem if short else path.name, known)
        composer.complain(f"data.{key}", f"there is no file {display(path)}", where, remedy)


def check_folders(composer: Composer, part: str, tree: Map) -> None:
    """Report a model folder that this machine lacks."""
    source = tree.get("source")
    if (
        isinstance(source, Map)
        and source.get("kind") == "folder"
        and not (Path(source["path"]) / "config.json").is_file()
    ):
        composer.complain(
            f"{part}.source.path",
            f"{source['path']!r} is no model folder: it has no config.json",
            mark_of(source, ("path",)),
            "give a folder in Hugging Face layout, or another kind of source",
        )


def _absolute(tree: Map, key: str) -> Path:
    folder = tree.marks[key].folder or Path.cwd()
    path = (folder / Path(tree[key]).expanduser()).resolve()
    tree[key] = str(path)
    return path


def _fingerprint(composer: Composer, tree: Map, path: Path) -> None:
    where = mark_of(tree, ("path",))
    try:
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        remedy = "give the path of a file with one JSON object a line"
        composer.complain("data.path", f"{display(path)} cannot be read ({_reason(error)})", where, remedy)
        return
    asserted = tree.get("sha256")
    if asserted is None:
        tree.put("sha256", content, where)
    elif asserted != content:
        remedy = "remove sha256 to take the file as it is, or bring back the file that was meant"
        composer.complain("data.sha256", f"{display(path)} has sha256 {content}", mark_of(tree, ("sha256",)), remedy)


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or "unknown reason"
