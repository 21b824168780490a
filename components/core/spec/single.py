"""Loads one judge, reward or other part without an experiment around it, for commands that need no more."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from components.core.spec import assets
from components.core.spec.base import Spec
from components.core.spec.compose import Composer
from components.core.spec.judge import JudgeSpec
from components.core.spec.load import DEFAULT_CONFIGS, part_of
from components.core.spec.overrides import apply, parse_overrides
from components.core.spec.places import Mark
from components.core.spec.problems import config_error
from components.core.spec.reward import RewardSpec

Part = TypeVar("Part", bound=Spec)


def load_judge(source: str, overrides: Sequence[str] = (), configs: Path | None = None) -> JudgeSpec:
    """Load and validate one judge.

    Args:
        source: a name in ``configs/judges``, or a path that ends in .yaml.
        overrides: ``key=value`` with the judge's own keys, as in ``endpoint=http://127.0.0.1:8000``.
        configs: folder with judges/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    composer = Composer(configs or DEFAULT_CONFIGS)
    tree = composer.named("judge", source, "judge", Mark("command line", folder=Path.cwd()))
    parsed, wrong = parse_overrides([f"judge.{text.removeprefix('judge.')}" for text in overrides])
    composer.problems.extend(wrong)
    judge = None
    if tree is not None:
        for override in parsed:
            composer.problems.extend(apply(tree, override, override.key[1:]))
        assets.locate(composer, "judge", tree)
        judge = part_of(composer, "judge", JudgeSpec, tree)
    if composer.problems or not isinstance(judge, JudgeSpec):
        raise config_error(f"judge {source}", composer.problems)
    return judge


def load_reward(source: str, configs: Path | None = None) -> RewardSpec:
    """Load and validate one reward.

    Args:
        source: a name in ``configs/rewards``, or a path that ends in .yaml.
        configs: folder with rewards/; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    return load_one("reward", source, RewardSpec, configs)


def load_one(kind: str, source: str, model: type[Part], configs: Path | None = None) -> Part:
    """Load and validate one part of an experiment as it stands in its file.

    Args:
        kind: such as ``reward``.
        source: a name in the folder of that kind, or a path that ends in .yaml.
        model: of the kind.
        configs: folder with that folder; by default the repository's.

    Raises:
        ConfigError: one or more mistakes; each with file, line, key, value and remedy.
    """
    composer = Composer(configs or DEFAULT_CONFIGS)
    tree = composer.named(kind, source, kind, Mark("command line", folder=Path.cwd()))
    if tree is not None:
        assets.locate(composer, kind, tree)
    part = None if tree is None else part_of(composer, kind, model, tree)
    if composer.problems or not isinstance(part, model):
        raise config_error(f"{kind} {source}", composer.problems)
    return part
