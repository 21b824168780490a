"""Names and label values are what Kubernetes accepts, whatever they are made from."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.kube.names import label_value, object_name

# The expressions of k8s.io/apimachinery (validation.go): label values, and DNS-1035 labels (DNS-1123 ones too).
LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
DNS = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
texts = st.one_of(st.text(max_size=90), st.text("abAB01-_./ ", max_size=90))


@given(texts)
def test_a_label_value_is_one(text: str) -> None:
    value = label_value(text)
    assert LABEL.fullmatch(value)
    assert len(value) <= 63
    assert (value == "") == (text == "")


@given(st.lists(texts, min_size=1, max_size=3).filter(lambda parts: bool("-".join(parts))), st.integers(11, 63))
def test_a_name_is_one_and_stays_the_same(parts: list[str], limit: int) -> None:
    name = object_name(*parts, limit=limit)
    assert DNS.fullmatch(name)
    assert len(name) <= limit
    assert name == object_name(*parts, limit=limit)


@given(texts, texts)
def test_different_texts_have_different_values_and_names(one: str, other: str) -> None:
    if one != other:
        assert label_value(one) != label_value(other)
        if one and other:
            assert object_name(one) != object_name(other)


@given(st.from_regex(DNS, fullmatch=True).filter(lambda text: len(text) <= 63))
def test_a_good_name_stays_as_it_is(text: str) -> None:
    assert object_name(text) == text
    assert label_value(text) == text


def test_examples() -> None:
    assert object_name("judge", "gpt-oss-120b") == "judge-gpt-oss-120b"
    assert label_value("32B") == "32B"
    assert object_name("Qwen3-32B").startswith("qwen3-32b-")
    assert len(object_name("x" * 100, limit=47)) == 47
    assert object_name("x" * 100, limit=47) != object_name("x" * 101, limit=47)


@pytest.mark.parametrize(("parts", "limit"), [((), 63), (("",), 63), (("a",), 5)])
def test_nothing_gives_no_name(parts: tuple[str, ...], limit: int) -> None:
    with pytest.raises(ValueError, match="no name"):
        object_name(*parts, limit=limit)
