"""JSON schemas of the specification, for editors that complete and check YAML."""

import copy
import json
from pathlib import Path
from typing import Any

from components.core.spec.compose import FOLDERS, REPLACED
from components.core.spec.experiment import MODELS, Experiment


def export_schemas(folder: Path) -> list[Path]:
    """Write one schema for experiments and one for each kind of part; returns the files.

    A file's name may stand in for ``name``, so the schemas do not require it; in an experiment a part may be a name, a
    mapping, or a mapping with ``use`` that needs only what it changes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schemas = {part: _file_schema(MODELS[part].model_json_schema()) for part in FOLDERS}
    schemas["experiment"] = _experiment_schema()
    written = []
    for name, schema in schemas.items():
        path = folder / f"{name}.schema.json"
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        path.write_text(json.dumps({**head, **schema}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _file_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "required": [key for key in schema.get("required", []) if key != "name"]}


def _experiment_schema() -> dict[str, Any]:
    schema = _file_schema(Experiment.model_json_schema())
    definitions = schema["$defs"]
    for part, folder in FOLDERS.items():
        former = schema["properties"][part]
        whole = definitions[former["$ref"].rsplit("/", 1)[1]]
        changed = copy.deepcopy(whole)
        changed["properties"]["use"] = {"type": "string", "description": f"A file in configs/{folder} to start from."}
        changed["required"] = ["use"]
        for key in set(REPLACED) & set(changed["properties"]):
            changed["properties"][key] = {"type": "object", "description": changed["properties"][key]["description"]}
        changed["title"] = f"{whole['title']}, changed"
        named = {"type": "string", "description": f"A file in configs/{folder}, or a path that ends in .yaml."}
        schema["properties"][part] = {"anyOf": [named, changed, former], "description": former.get("description", "")}
    members = definitions["PanelSpec"]["properties"]["members"]
    named = {"type": "string", "description": "A file in configs/judges, or a path that ends in .yaml."}
    members["items"] = {"anyOf": [named, {"type": "object", "required": ["use"]}, members["items"]]}
    return schema
