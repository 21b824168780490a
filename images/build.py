"""Builds the images, pushes them if asked to, and writes down which ones they are: ``make images``.

``build/images.json`` maps each dependency set to ``registry/name@sha256:...`` once it was pushed, or to the tag of an
image that only this machine has. Nothing beyond Python is needed.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from container_engine import BuildError, Engine

ROOT = Path(__file__).resolve().parents[1]
SETS = {"tools": 3, "cpu": 8, "trainer": 40, "serving": 35, "evaluation": 35}
"""Each dependency set, and the gigabytes that its build takes in both stages."""
DEFAULT = ("tools", "trainer", "serving", "evaluation")
BASE_FILE = Path("images/base.txt")
HOME = "docker.io/gavel"
"""Where names without a registry belong, for images that are loaded into a cluster by hand."""


def main(given: Sequence[str] | None = None) -> int:
    """Build what the arguments name; returns the exit status."""
    options = _parser().parse_args(given)
    try:
        engine = Engine.find(options.engine)
        names = chosen(options.sets)
        registry = options.registry.rstrip("/")
        if options.push and not registry:
            raise BuildError("a push needs a registry", "make images PUSH=1 REGISTRY=registry.example.org/team")
        _require_disk(engine, names)
        base = _base(engine, options)
        arguments = {**facts(ROOT, options.tag), "BASE": base, **_base_labels(base)}
        written = {}
        for name in names:
            reference = f"{registry or HOME}/{name}:{arguments['VERSION']}"
            print(f"images: {name} with {engine.name} as {reference}", flush=True)
            extra = {"TORCH_INDEX": options.torch_index} if name == "cpu" and options.torch_index else {}
            flags = shlex.split(options.build_flags)
            engine.build(ROOT / "images" / f"{name}.Dockerfile", ROOT, reference, {**arguments, **extra}, flags)
            written[name] = engine.push(reference, shlex.split(options.push_flags)) if options.push else reference
            _note(options.output, written)
            print(f"images: {name}: {written[name]} (id {engine.image_id(reference)[-64:][:12]})", flush=True)
    except BuildError as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    if not options.push:
        print(
            "images: nothing was pushed: these names are known to this machine alone, and tags can be moved. "
            "With PUSH=1 REGISTRY=... digests are written."
        )
    print(f"images: {', '.join(written)} in {options.output}")
    return 0


def chosen(text: str) -> list[str]:
    """Names of dependency sets, in the order given.

    Raises:
        BuildError: one is unknown.
    """
    names = list(dict.fromkeys(text.replace(",", " ").split())) or list(DEFAULT)
    if unknown := [name for name in names if name not in SETS]:
        raise BuildError(f"no set of dependencies {unknown[0]!r}", f"SETS holds some of: {' '.join(SETS)}")
    return names


def facts(root: Path, tag: str = "") -> dict[str, str]:
    """What the labels say of the checkout: version, revision (``-dirty`` with changes), source, time."""
    version = tag or tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    revision = _git(root, "rev-parse", "HEAD") or "unknown"
    if revision != "unknown" and _git(root, "status", "--porcelain"):
        revision += "-dirty"
    source = urlsplit(_git(root, "remote", "get-url", "origin") or "")
    # A remote may carry a token; a path of this machine says nothing elsewhere.
    public = f"{source.scheme}://{source.hostname}{source.path}" if source.scheme in ("http", "https") else ""
    return {
        "VERSION": version,
        "REVISION": revision,
        "SOURCE": public,
        "CREATED": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _base(engine: Engine, options: argparse.Namespace) -> str:
    """The image to build upon: given, or the one of ``images/base.txt``; with ``--pin`` its digest is put there."""
    listed = (ROOT / BASE_FILE).read_text().split("#")[0].strip()
    base = str(options.base or listed)
    if "@sha256:" in base or base.startswith("localhost/"):
        return base
    digest = engine.resolve(base)
    if digest is None:
        return base
    base = f"{base}@{digest}"
    if options.pin and not options.base:
        (ROOT / BASE_FILE).write_text(f"{base}\n")
        print(f"images: {BASE_FILE} now pins {base}; commit it")
    else:
        print(f"images: base {base}" + ("" if options.base else f"; PIN=1 keeps that digest in {BASE_FILE}"))
    return base


def _base_labels(base: str) -> dict[str, str]:
    name, _, digest = base.partition("@")
    return {"BASE_NAME": name if digest else base, "BASE_DIGEST": digest}


def _require_disk(engine: Engine, names: Sequence[str]) -> None:
    free, needed = engine.free_gigabytes(), max(SETS[name] for name in names)
    if free is not None and free < needed:
        raise BuildError(
            f"the disk is too full: building takes up to {needed} GB at a time, {free:.0f} GB are free "
            f"where {engine.name} keeps images",
            f"free some space ({engine.name} image prune), or build fewer sets: SETS=tools",
        )


def _note(path: Path, written: Mapping[str, str]) -> None:
    """Put what was built into the file, beside what earlier commands put there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        known = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        known = {}
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    temporary.write_text(json.dumps({**known, **written}, indent=1, sort_keys=True) + "\n")
    temporary.replace(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make images", description=__doc__)
    parser.add_argument("--engine", default="", help="docker, podman or buildah; the first that is there")
    parser.add_argument("--sets", default="", help=f"of {' '.join(SETS)}; by default {' '.join(DEFAULT)}")
    parser.add_argument("--registry", default="", help="registry and folder, such as registry.example.org/team")
    parser.add_argument("--push", action="store_true", help="push, and see that it arrived")
    parser.add_argument("--tag", default="", help="instead of the version in pyproject.toml")
    parser.add_argument("--base", default="", help=f"image to build upon instead of {BASE_FILE}")
    parser.add_argument("--pin", action="store_true", help=f"write the base's digest into {BASE_FILE}")
    parser.add_argument("--torch-index", default="", help="package index of torch's CPU build, for the set cpu")
    parser.add_argument("--build-flags", default="", help="further options of the engine's build")
    parser.add_argument("--push-flags", default="", help="further options of the engine's push and pull")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "images.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
