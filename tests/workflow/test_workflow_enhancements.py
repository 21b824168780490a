"""Layer 2: sets of texts, the executor's own before the general ones, and that they are really applied and traced."""

from pathlib import Path

import pytest
from scripted_executor import SUM, Model, broker

from components.core.errors import ConfigError
from components.workflow.operators import REGISTRY
from components.workflow.prompts.layer2 import DOMAINS, FOLDER, enhancer
from components.workflow.types import Problem

CODE = Problem("code", "mbpp", "Twice.", "f", None)


def written(folder: Path, **files: str) -> Path:
    """A set ``mine``; in names of files, two underscores are a slash."""
    for name, text in files.items():
        path = folder / "sets" / "mine" / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "sets"


def test_the_shipped_set_has_texts_for_every_domain() -> None:
    found = enhancer("default", "anybody")
    assert {domain for domain in DOMAINS if found.texts[domain]} == {"math", "code", "qa"}
    named = {operator for texts in found.texts.values() for operator in texts}
    # Also those that the former system left out: its texts were for Custom, AnswerGenerate, Programmer and Review.
    assert named >= {"Custom", "AnswerGenerate", "Programmer", "Review", "Test", "Revise", "ScEnsemble"}
    assert named <= set(REGISTRY)
    special = enhancer("default", "gpt-oss-120b")
    assert special("AnswerGenerate", SUM) != found("AnswerGenerate", SUM)
    assert special("Review", SUM) == found("Review", SUM)
    assert special.digest != found.digest
    assert enhancer("default", "another").digest == found.digest


def test_the_executors_own_texts_win_operator_by_operator(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        math="Custom: General.\nReview: Look twice.\nFormat: Short.\n",
        executors__big__math="Custom: For big.\nFormat: null\n",
        executors__big__code="Test: Mend.\n",
    )
    big, other = enhancer("mine", "big", folder), enhancer("mine", "small", folder)
    names = ("Custom", "Review", "Format", "Test")
    assert [big(name, SUM) for name in names] == ["For big.", "Look twice.", None, None]
    assert [other(name, SUM) for name in names] == ["General.", "Look twice.", "Short.", None]
    assert (big("Test", CODE), other("Test", CODE)) == ("Mend.", None)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"math": "Costum: Text.\n"}, "no operator 'Costum'"),
        ({"maths": "Custom: Text.\n"}, "'maths' is no domain"),
        ({"math": "Custom: 3\n"}, "Custom: is no text"),
        ({"math": "Custom: ' '\n"}, "Custom: is no text"),
        ({"math": "- Custom\n"}, "no mapping"),
        ({"math": "Custom: a\nCustom: b\n"}, "stands twice"),
        ({"math": "Custom: a\n", "executors__x__law": "Custom: b\n"}, "'law' is no domain"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        enhancer("mine", "big", written(tmp_path, **files))


@pytest.mark.parametrize("name", ["defualt", "../prompts", "", "."])
def test_a_set_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no set of enhancements"):
        enhancer(name, "anybody")


def test_an_executors_name_is_no_path() -> None:
    assert enhancer("default", "../../default").digest == enhancer("default", "anybody").digest
    assert (FOLDER / "default" / "executors").is_dir()


async def test_texts_begin_the_prompts_of_calls_and_stand_in_the_trace() -> None:
    model = Model("<thought>40 + 2</thought>\n<answer>42</answer>", "Yes.", "Yes.")
    texts = enhancer("default", "anybody")
    async with broker(model, SUM, enhance=texts) as made:
        assert await made.call("AnswerGenerate", {"input": "40 + 2?"}) == {"thought": "40 + 2", "answer": "42"}
        await made.call("Custom", {"input": "Is it 42?", "instruction": "Say yes."})
        first, second = made.trace
    for call, prompt in zip((first, second), model.prompts, strict=True):
        assert call.enhancement == texts.texts["math"][call.operator]
        assert prompt.startswith(f"{call.enhancement}\n\n")
    assert first.enhancement != second.enhancement
