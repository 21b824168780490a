"""Hashes that say whether two results are the same thing."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

from components.core.errors import StepError


def canonical_json(value: object, *, ascii: bool = True) -> str:
    """JSON with one spelling: sorted keys, no spaces, no NaN; other letters as they are unless ``ascii``.

    Raises:
        StepError: the value is not JSON.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=ascii)
    except (TypeError, ValueError) as error:
        raise StepError(f"not a JSON value, so it cannot be hashed: {error}") from error


def digest(value: object) -> str:
    """SHA-256, as hex, of a JSON value."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Installed versions by package name.

    Raises:
        StepError: one is not installed.
    """
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            raise StepError(
                f"the package {name} is not installed", remedy="install the lock file that the step's image names"
            ) from error
    return found


def identity(
    step: str,
    depends: object,
    inputs: Mapping[str, str],
    code_version: str,
    packages: Mapping[str, str],
) -> str:
    """Identity of a step's result, as hex: it changes with anything that the result depends on, and with nothing else.

    Args:
        step: name of the step.
        depends: the part of the experiment that the result depends on, as JSON.
        inputs: sha256 of the content of each input, by name; not where it lies.
        code_version: hash of the first-party sources.
        packages: versions of the packages that matter.
    """
    return digest(
        {
            "step": step,
            "depends": depends,
            "inputs": dict(inputs),
            "code": code_version,
            "packages": dict(packages),
        }
    )
