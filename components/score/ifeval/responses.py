"""The responses: rows with ``response`` and with ``prompt``, ``key`` or both, joined with the prompts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ContractError
from components.core.faults import tell
from components.judge.parsing.reasoning import drop_reasoning
from components.score.ifeval.prompts import Prompt, read_jsonl


@dataclass(frozen=True, slots=True)
class Response:
    """One response.

    Attributes:
        text: what is scored; empty where there is no answer.
        reasoned: reasoning was taken away from it.
        unfinished: the reasoning never ended, so there is no answer.
        missing: the file has no response to the prompt.
    """

    text: str
    reasoned: bool = False
    unfinished: bool = False
    missing: bool = False


def read_responses(path: Path, prompts: Sequence[Prompt], *, allow_missing: bool = False) -> list[tuple[Response, ...]]:
    """The responses to each prompt, in the order of the prompts; several where ``response`` is a list.

    A row with a key is joined by it, one without by the exact text of its prompt.

    Args:
        path: a JSONL file.
        prompts: what was asked.
        allow_missing: a prompt without a row counts as not answered.

    Raises:
        ConfigError: there is no such file.
        ContractError: a row cannot be read or joined, a prompt is answered by two rows, or by none.
    """
    by_key = {prompt.key: place for place, prompt in enumerate(prompts)}
    by_text = {prompt.text: place for place, prompt in enumerate(prompts)}
    found: dict[int, tuple[Response, ...]] = {}
    faults: list[ContractError] = []
    rows = read_jsonl(path)
    for where, row in rows:
        try:
            place = _place(row, where, prompts, by_key, by_text)
            if place in found:
                raise ContractError(
                    f"a second row for key {prompts[place].key}",
                    where=where,
                    remedy="keep one row a prompt; several samples go into one row, as a list in response",
                )
            found[place] = tuple(map(without_reasoning, _texts(row, where)))
        except ContractError as error:
            faults.append(error)
    tell(faults, of=len(rows), source=str(path))
    missing = [prompt.key for place, prompt in enumerate(prompts) if place not in found]
    if missing and not allow_missing:
        raise ContractError(
            f"{len(missing)} of {len(prompts)} prompts have no response, the first with key {missing[0]}",
            where=str(path),
            remedy="generate them, or pass --allow-missing to count them as not answered",
        )
    return [found.get(place, (Response("", missing=True),)) for place in range(len(prompts))]


def without_reasoning(raw: str) -> Response:
    """A response as it is scored: reasoning taken away with the white space around it, otherwise untouched."""
    spoken = drop_reasoning(raw)
    if spoken.unfinished:
        return Response("", reasoned=True, unfinished=True)
    if spoken.text == raw:
        return Response(raw)
    return Response(spoken.text.strip(), reasoned=True)


def _place(
    row: Mapping[str, Any],
    where: str,
    prompts: Sequence[Prompt],
    by_key: Mapping[int | str, int],
    by_text: Mapping[str, int],
) -> int:
    key, text = row.get("key"), row.get("prompt")
    if key is None and text is None:
        raise ContractError("the row has neither prompt nor key", where=where, remedy="responses are joined by these")
    if key is not None:
        # True and 1 are one key of a mapping.
        if isinstance(key, bool) or not isinstance(key, int | str) or key not in by_key:
            raise ContractError(f"there is no prompt with key {key!r}", where=where, remedy="check --prompts")
        if text is not None and text != prompts[by_key[key]].text:
            raise ContractError(
                f"its prompt is not that of key {key}",
                where=where,
                remedy="write the prompt without chat template, or leave it out: the key is enough",
            )
        return by_key[key]
    if not isinstance(text, str) or text not in by_text:
        raise ContractError(
            f"there is no such prompt: {str(text)[:80]!r}",
            where=where,
            remedy="prompts are joined by their exact text, without chat template; or give the key instead",
        )
    return by_text[text]


def _texts(row: Mapping[str, Any], where: str) -> list[str]:
    response = row.get("response")
    texts: list[Any] = response if isinstance(response, list) else [response]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ContractError(
            "response is neither a text nor a list of texts",
            where=where,
            remedy='an answer that was never made is left out (--allow-missing), an empty one is ""',
        )
    return texts
