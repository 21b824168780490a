"""JSON schemas of the specification, for editors that complete and check YAML."""

import copy
import json
from pathlib import Path
from typing import Any

from components.core.spec.compose import FOLDERS, NAMED, REPLACED, WORKFLOW
from components.core.spec.experiment import MODELS, PARTS, Experiment
from components.core.spec.study import StudySpec
from components.core.spec.workflow_reward import WorkflowRewardSpec


def export_schemas(folder: Path) -> list[Path]:
    """Write one schema for experiments, one for studies and one for each kind of file they name; returns the files.

    A file's name may stand in for ``name``, so the schemas do not require it; in an experiment a part may be a name, a
    mapping, or a mapping with ``use`` that needs only what it changes; an experiment with ``use`` needs no part at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schemas = {part: _file_schema(MODELS[part].model_json_schema()) for part in FOLDERS}
    schemas["ladder"] = _file_schema(WorkflowRewardSpec.model_json_schema())
    schemas["experiment"] = _experiment_schema()
    schemas["study"] = _file_schema(StudySpec.model_json_schema())
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
    workflow = definitions["WorkflowSpec"]["properties"]
    for key, part in WORKFLOW.items():
        named = {"type": "string", "description": f"A file in configs/{NAMED[part]}, or a path that ends in .yaml."}
        former = workflow[key]
        workflow[key] = {
            "anyOf": [named, {"type": "object", "required": ["use"]}, former],
            "description": former.get("description", ""),
        }
    shared = {"$defs": schema.pop("$defs")}
    return {**shared, "if": {"required": ["use"]}, "then": _starting(schema, shared["$defs"]), "else": schema}


def _starting(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of an experiment that starts from another one: every part may say no more than what it changes."""
    start = "An experiment to start from: a file in configs/experiments, or a path that ends in .yaml."
    properties = {**schema["properties"], "use": {"type": "string", "description": start}}
    for part in PARTS:
        former = properties[part]
        choices = former.get("anyOf", [former])
        whole = definitions[choices[-1]["$ref"].rsplit("/", 1)[1]]
        partly = {**(choices[1] if len(choices) > 1 else whole), "required": [], "title": f"{whole['title']}, partly"}
        properties[part] = {**former, "anyOf": [*choices[:1], partly]} if len(choices) > 1 else partly
    return {**schema, "properties": properties, "required": ["use"]}
