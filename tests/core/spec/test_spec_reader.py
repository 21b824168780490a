"""YAML as the core schema of YAML 1.2 (yaml.org/spec/1.2.2, section 10.3.2) reads it, with places."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.core.spec.places import Map, Mark, ReadError
from components.core.spec.reader import MAX_DEPTH, read_file, read_text
from components.core.spec.yaml_core import CoreDumper

MARK = Mark("file.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("0", 0),
        ("-19", -19),
        ("010", 10),
        ("0o7", 7),
        ("0x3A", 58),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0.", 0.0),
        ("-.5", -0.5),
        ("1e-5", 1e-5),
        ("12e03", 12000.0),
        ("-2E+05", -200000.0),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("2026-01-02", "2026-01-02"),
        ("'10'", "10"),
        ("!!str 10", "10"),
    ],
)
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    found = read_text(f"key: {text}", MARK)
    assert isinstance(found, Map)
    assert found["key"] == value
    assert type(found["key"]) is type(value)


def test_nan_is_read_as_nan() -> None:
    found = read_text("[.nan, .NaN]", MARK)
    assert isinstance(found, list)
    assert all(math.isnan(item) for item in found)


def test_places_are_line_numbers_from_one(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("# comment\na: 1\nb:\n  c:\n  - x\n  - y\n", encoding="utf-8")
    found = read_file(path, "shown.yaml")
    assert isinstance(found, Map)
    assert str(found.marks["a"]) == "shown.yaml:2"
    assert str(found["b"].marks["c"]) == "shown.yaml:4"
    assert str(found["b"]["c"].marks[1]) == "shown.yaml:6"
    assert found.marks["a"].folder == tmp_path.resolve()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "key 'a' stands twice (first on line 1)"),
        ("a:\n  b: 1\n  b: 1\n", 3, "key 'b' stands twice (first on line 2)"),
        ("a: [1, 2\nb: 3\n", 2, "not valid YAML"),
        ("a: 1\n b: 2\n", 2, "not valid YAML"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("a:\n\t- 1\n", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not valid YAML"),
        ("a: 'x\n", 2, "not valid YAML"),
        ("a: *nowhere\n", 1, "not valid YAML"),
        ("x: 0\n3: 1\n", 2, "key '3' is not text"),
        ("true: 1\n", 1, "key 'true' is not text"),
        ("? [a]\n: 1\n", 1, "key 'a list or mapping' is not text"),
        ("a: !!python/object/apply:os.system ['true']\n", 1, "tag"),
        ("a: !secret x\n", 1, "tag"),
        ("a: !!int many\n", 1, "'many' is no int"),
        ("a: 99999999999999999999\n", 1, "is no int"),
        ('a: "\\ud800"\n', 1, "surrogate"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_text(text, MARK)
    assert words in caught.value.what
    assert caught.value.mark.line == line
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1500 + "]" * 1500,
        "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2),
        "&a [*a]",
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
        ),
    ],
    ids=["very deep", "deep", "endless", "laughs"],
)
def test_depth_and_size_are_bounded(text: str) -> None:
    with pytest.raises(ReadError, match="nested too deeply"):
        read_text(text, MARK)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("name: Käse".encode("latin-1"))
    with pytest.raises(ReadError, match="UTF-8"):
        read_file(path, "a.yaml")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be read"):
        read_file(tmp_path, "a.yaml")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    TEXT,
    st.sampled_from(["1e-5", "yes", "on", "~", "0o7", "010", "1_0", "null", ".inf", "1:30", "- a", "a: b", "# c", ""]),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT.filter(bool), inner, max_size=3),
    max_leaves=8,
)


@given(TREES)
def test_what_the_dumper_writes_is_read_back(tree: object) -> None:
    text = yaml.dump(tree, Dumper=CoreDumper, allow_unicode=True, sort_keys=False)
    assert read_text(text, MARK) == tree
