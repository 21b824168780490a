"""Identities: stable over spelling, different for every cause."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import StepError
from components.core.identity import canonical_json, digest, identity, package_versions

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


def test_canonical_json_by_hand() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "é"}) == '{"a":"\\u00e9","b":[1,2.5,null]}'
    assert digest({}) == hashlib.sha256(b"{}").hexdigest()


@given(st.dictionaries(st.text(), values, max_size=5))
def test_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", object()])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(StepError, match="not a JSON value"):
        digest({"x": value})


def test_every_cause_changes_the_identity() -> None:
    base = {"step": "s", "depends": {"seed": 1}, "inputs": {"d": "a"}, "code_version": "c", "packages": {"p": "1"}}
    changes = [
        {"step": "t"},
        {"depends": {"seed": 2}},
        {"inputs": {"d": "b"}},
        {"inputs": {"e": "a"}},
        {"code_version": "d"},
        {"packages": {"p": "2"}},
    ]
    identities = [identity(**{**base, **change}) for change in [{}, *changes]]  # type: ignore[arg-type]
    assert len(set(identities)) == len(changes) + 1
    assert identities[0] == identity(**base)  # type: ignore[arg-type]


def test_missing_package_is_named() -> None:
    with pytest.raises(StepError, match="no-such-package-anywhere"):
        package_versions(["pytest", "no-such-package-anywhere"])
    assert package_versions(["pytest"])["pytest"] == pytest.__version__
