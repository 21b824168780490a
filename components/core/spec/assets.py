"""Files that an experiment names: relative paths made whole, contents read, missing ones reported."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from components.core.json_folder import folder_sha256
from components.core.spec.compose import Composer
from components.core.spec.data import DataSpec
from components.core.spec.fields import suggestion
from components.core.spec.files import display, is_file, names_in, resolve
from components.core.spec.places import Map, Seq
from components.core.spec.problems import mark_of
from components.core.spec.reward import RewardPrompts, RewardSpec
from components.core.spec.secrets import shown

_COMPONENTS = Path(__file__).resolve().parents[2]
_WORDS = _COMPONENTS / "gold" / "words"
_TEMPLATES = _COMPONENTS / "judge" / "protocols" / "templates"
_PROMPTS = _COMPONENTS / "judge" / "protocols" / "prompts"
_SENTENCES = _COMPONENTS / "data" / "sentences"
_TREES = "data.mixture.sources.math."
"""The set whose authors give away one JSON file a row."""
_SENTENCE_FILES = ("train_templates", "heldout_templates", "train_subjects", "heldout_subjects")


def locate(composer: Composer, part: str, tree: Map) -> None:
    """Make the paths of one part absolute and fill in what the files hold; fields of a wrong type are left alone."""
    if part == "policy" and (path := _absolute(composer, part, tree, "chat_template")):
        try:
            tree.put("chat_template_text", path.read_text(encoding="utf-8"), tree.marks["chat_template"])
        except (OSError, UnicodeDecodeError) as error:
            _unreadable(composer, "policy.chat_template", path, tree, error)
    source = tree.get("source")
    if isinstance(source, Map) and source.get("kind") == "folder":
        _absolute(composer, f"{part}.source", source, "path")
    if part == "data" and not str(tree.get("path")).startswith("s3://"):
        path = _absolute(composer, part, tree, "path")
        if path is not None:
            _fingerprint(composer, part, tree, path)
    if part == "data":
        for key, file in _mixture_files(tree):
            if not str(file.get("path")).startswith("s3://"):
                path = _absolute(composer, key, file, "path")
                if path is not None:
                    _fingerprint(composer, key, file, path, folder=key.startswith(_TREES))
    ifeval = tree.get("ifeval") if part == "evaluation" else None
    if isinstance(ifeval, Map) and not str(ifeval.get("path")).startswith("s3://"):
        path = _absolute(composer, "evaluation.ifeval", ifeval, "path")
        if path is not None:
            _fingerprint(composer, "evaluation.ifeval", ifeval, path)


def _mixture_files(tree: Map) -> Iterator[tuple[str, Map]]:
    """The files of a mixture's sources that look like files, with their dotted keys."""
    mixture = tree.get("mixture")
    sources = mixture.get("sources") if isinstance(mixture, Map) else None
    for name, source in sources.items() if isinstance(sources, Map) else ():
        for part, files in source.items() if isinstance(source, Map) else ():
            for number, file in enumerate(files) if isinstance(files, Seq) else ():
                if isinstance(file, Map):
                    yield f"data.mixture.sources.{name}.{part}.{number}", file


def check_data_files(composer: Composer, data: DataSpec, tree: Map) -> None:
    """Report a word list or templates of prompts that are not there."""
    if data.gold is not None and data.gold.word_list is not None:
        _shipped(composer, "data", tree, ("gold", "word_list"), _WORDS / f"{data.gold.word_list}.txt", bare=True)
    if data.kind == "sentences":
        for key in _SENTENCE_FILES:
            _shipped(composer, "data", tree, (key,), _SENTENCES / getattr(data, key), bare=False)


def check_reward_files(composer: Composer, reward: RewardSpec, tree: Map) -> None:
    """Report templates of the judge's prompts that are not there."""
    if reward.prompt is not None:
        _shipped(composer, "reward", tree, ("prompt",), _PROMPTS / f"{reward.prompt}.txt", bare=True)
    for key in RewardPrompts.model_fields:
        _shipped(
            composer, "reward", tree, ("prompts", key), _TEMPLATES / f"{getattr(reward.prompts, key)}.txt", bare=True
        )


def check_folder(composer: Composer, part: str, tree: Map) -> None:
    """Report a model folder that this machine lacks."""
    source = tree.get("source")
    if not isinstance(source, Map) or source.get("kind") != "folder":
        return
    if not is_file(Path(source["path"]) / "config.json"):
        composer.complain(
            f"{part}.source.path",
            f"{source['path']!r} is no model folder: it has no config.json",
            mark_of(source, ("path",)),
            "give a folder in Hugging Face layout, or another kind of source",
        )


def _shipped(composer: Composer, part: str, tree: Map, key: tuple[str, ...], path: Path, *, bare: bool) -> None:
    """Report ``path`` if it is missing; ``bare``: the user writes its name without .txt."""
    if is_file(path):
        return
    known = [name if bare else f"{name}.txt" for name in names_in(path.parent, ".txt")]
    remedy = suggestion(path.stem if bare else path.name, known)
    composer.complain(".".join((part, *key)), f"there is no file {display(path)}", mark_of(tree, key), remedy)


def _absolute(composer: Composer, prefix: str, tree: Map, key: str) -> Path | None:
    text = tree.get(key)
    if not isinstance(text, str) or not text.strip():
        return None
    path = resolve(text, tree.marks[key])
    if path is None:
        composer.complain(
            f"{prefix}.{key}", f"{shown(text)} is no path", tree.marks[key], "give a path of this machine"
        )
    else:
        tree[key] = str(path)
    return path


def _fingerprint(composer: Composer, part: str, tree: Map, path: Path, *, folder: bool = False) -> None:
    """Note the content's hash, or check the one that is given; ``folder``: the path may be one of JSON files."""
    try:
        if folder and path.is_dir():
            content = folder_sha256(path)
        else:
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        _unreadable(composer, f"{part}.path", path, tree, error)
        return
    asserted = tree.get("sha256")
    if asserted is None:
        tree.put("sha256", content, tree.marks["path"])
    elif asserted != content:
        remedy = "remove sha256 to take the file as it is, or bring back the file that was meant"
        composer.complain(f"{part}.sha256", f"{display(path)} has sha256 {content}", mark_of(tree, ("sha256",)), remedy)


def _unreadable(composer: Composer, key: str, path: Path, tree: Map, error: OSError | UnicodeDecodeError) -> None:
    reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror or "unknown reason"
    where = mark_of(tree, (key.split(".")[-1],))
    composer.complain(key, f"{display(path)} cannot be read: {reason}", where, "give the path of a readable UTF-8 file")
