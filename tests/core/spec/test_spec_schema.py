"""The exported JSON schemas, used by an independent validator on the shipped files and on broken ones."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from components.core.spec.compose import NAMED
from components.core.spec.load import DEFAULT_CONFIGS
from components.core.spec.reader import read_file
from components.core.spec.schema import export_schemas

KINDS = {**NAMED, "experiment": "experiments", "study": "studies"}


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("schemas") / "new"
    return {path.name.removesuffix(".schema.json"): json.loads(path.read_text()) for path in export_schemas(folder)}


def test_one_schema_for_each_kind_of_file(schemas: dict[str, Any]) -> None:
    assert set(schemas) == set(KINDS)
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "path", sorted(DEFAULT_CONFIGS.rglob("*.yaml")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_shipped_files_pass(schemas: dict[str, Any], path: Path) -> None:
    kind = next(kind for kind, folder in KINDS.items() if folder == path.parent.name)
    jsonschema.Draft202012Validator(schemas[kind]).validate(read_file(path, path.name))


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"policy": {"use": "tiny", "dtype": "bfloat16", "source": {"seed": 3}}}, True),
        ({"policy": {"dtype": "bfloat16"}}, False),
        ({"policy": {"use": "tiny", "dtypo": "bfloat16"}}, False),
        ({"policy": 3}, False),
        ({"name": "Upper"}, False),
        ({"seed": "1"}, False),
        ({"seed": -1}, False),
        ({"extra": 1}, False),
        ({"training": {"steps": 1}}, False),
        ({"evaluation": {"max_response_tokens": 8, "confidence": 2}}, False),
    ],
)
def test_changed_experiments(schemas: dict[str, Any], change: dict[str, Any], good: bool) -> None:
    tree = read_file(DEFAULT_CONFIGS / "experiments" / "tiny.yaml", "tiny.yaml")
    assert isinstance(tree, dict)
    validator = jsonschema.Draft202012Validator(schemas["experiment"])
    assert validator.is_valid({**tree, **change}) is good


def test_a_file_may_leave_out_the_name_that_it_has_as_a_file(schemas: dict[str, Any]) -> None:
    for whole in schemas.values():
        schema = whole.get("else", whole)
        assert "name" in schema["properties"]
        assert "name" not in schema["required"]
