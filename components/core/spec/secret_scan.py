"""Finds secrets written into a configuration."""

from collections.abc import Iterable
from typing import Any

from components.core.spec.places import Map, Seq
from components.core.spec.problems import Problem, dotted, mark_of
from components.core.spec.secrets import REDACTED, is_secret, names_secret


def secrets_in(tree: Any, prefix: tuple[str | int, ...] = ()) -> Iterable[tuple[tuple[str | int, ...], Problem]]:
    """Every literal secret in a tree, with its path. The value is not repeated."""
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(tree, Map):
        items = tree.items()
    elif isinstance(tree, Seq):
        items = enumerate(tree)
    for key, value in items:
        path = (*prefix, key)
        if isinstance(value, str) and (is_secret(value) or (value and names_secret(str(key)))):
            mark = mark_of(tree, (key,))
            remedy = (
                "take it out (and revoke it if the file was shared); put it into an environment variable and give that "
                "variable's NAME, as judge.api_key_env does; the store reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY"
            )
            yield path, Problem(dotted(path), "a secret has no place in a configuration " + REDACTED, mark, remedy)
        else:
            yield from secrets_in(value, path)
