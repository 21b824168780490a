"""Finds the model and field that a dotted key means, for suggestions and for the field's documentation."""

import difflib
import types
import typing
from collections.abc import Iterable, Sequence

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Key = Sequence[str | int]


def field_at(model: type[BaseModel], key: Key, data: object) -> FieldInfo | None:
    """The field behind ``key``, None when it is none; ``data`` tells which kind of a union is meant."""
    return _walk(model, key, data)[0]


def model_at(model: type[BaseModel], key: Key, data: object) -> type[BaseModel] | None:
    """The model that ``key`` leads to; None when it leads to a plain value or nowhere."""
    return _walk(model, key, data)[1]


def _walk(model: type[BaseModel], key: Key, data: object) -> tuple[FieldInfo | None, type[BaseModel] | None]:
    """Field and model at the end of ``key``. Numbers of list items and names in a mapping of models stay with the field
    that holds them."""
    owner: type[BaseModel] | None = model
    field: FieldInfo | None = None
    names = False
    for part in key:
        data = data[part] if isinstance(data, dict) and part in data else _item(data, part)
        if isinstance(part, int) or names:
            names = False
            owner = _model_in(field.annotation, data) if field else owner
            continue
        field = owner.model_fields.get(part) if owner else None
        if field is None:
            return None, None
        owner = _model_in(field.annotation, data)
        names = _is_mapping(field.annotation)
        if names:
            owner = None
    return field, owner


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """ "did you mean X?", or the list of what exists."""
    names = sorted(known)
    tried = (wrong, wrong.lower().replace("-", "_"), wrong.lower().replace("_", "-"))
    close = [match for form in tried for match in difflib.get_close_matches(form, names, n=1, cutoff=0.6)]
    listed = ", ".join(names) if names else "none"
    return f"did you mean {close[0]}? Known: {listed}" if close else f"known: {listed}"


def kinds(field: FieldInfo | None) -> list[str]:
    """Values of the key ``kind`` by which the models of a field's union are told apart."""
    models = _models(field.annotation) if field else ()
    return [kind for each in models for kind in typing.get_args(each.model_fields["kind"].annotation)]


def purpose(field: FieldInfo | None) -> str:
    """The field's documentation on one line."""
    return " ".join((field.description or "").split()) if field else ""


def _item(data: object, part: str | int) -> object:
    if isinstance(data, list) and isinstance(part, int) and 0 <= part < len(data):
        return data[part]
    return None


def _model_in(annotation: object, data: object) -> type[BaseModel] | None:
    models = list(_models(annotation))
    kind = data.get("kind") if isinstance(data, dict) else None
    if len(models) > 1:
        return next((model for model in models if kind in typing.get_args(model.model_fields["kind"].annotation)), None)
    return models[0] if models else None


def _is_mapping(annotation: object) -> bool:
    """Whether it is dict[str, some model]."""
    return typing.get_origin(annotation) is dict and next(iter(_models(annotation)), None) is not None


def _models(annotation: object) -> Iterable[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    for argument in typing.get_args(annotation):
        yield from _models(argument)
