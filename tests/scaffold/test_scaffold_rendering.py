"""Chat templates with and without a scaffold; the templates are written here, the check is ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from components.core.errors import ConfigError
from components.judge.verdict import Criterion
from components.scaffold.rendering import check_rendering

CHATML = Path(__file__).parents[2] / "configs" / "policies" / "chatml.jinja"
USER = [{"role": "user", "content": "Name a city."}]
RUBRIC = [Criterion("names a city", 2), Criterion("is rude", -1)]
DEFAULT_SYSTEM = (
    "{%- if messages[0].role != 'system' -%}<|im_start|>system\nYou are a default assistant.<|im_end|>\n{% endif -%}"
)


def renderer(template: str) -> Any:
    # As transformers sets its environment up.
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template)

    def render(messages: Sequence[Mapping[str, str]]) -> str:
        return made.render(messages=messages, add_generation_prompt=True)

    return render


def check(template: str, messages: Sequence[Mapping[str, str]] = USER, room: int = 1000, **changes: Any) -> None:
    settings = {"criteria": RUBRIC, "secret": False, "room": room, "row_id": "r7"} | changes
    check_rendering(renderer(template), len, messages, **settings)


def test_the_shipped_template_writes_the_turns_and_nothing_else() -> None:
    text = renderer(CHATML.read_text())([{"role": "system", "content": "S"}, *USER])
    assert text == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nName a city.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_without_a_system_prompt_of_its_own_passes() -> None:
    check(CHATML.read_text())
    check(CHATML.read_text(), [{"role": "system", "content": "Be brief."}, *USER])


def test_a_default_system_prompt_is_found() -> None:
    with pytest.raises(ConfigError, match="differ in more than the scaffold") as caught:
        check(DEFAULT_SYSTEM + CHATML.read_text())
    assert "row r7" in caught.value.where
    assert "default assistant" in caught.value.where
    assert "chatml.jinja" in caught.value.remedy


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}",
        "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}",
        "{% if messages[0].role == 'system' %}Mode: with requirements. {% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}{% if messages[0].role == 'system' %} Obey them.{% endif %}",
    ],
    ids=["drops system turns", "writes turns twice", "changes both ends"],
)
def test_other_differences_are_found(template: str) -> None:
    with pytest.raises(ConfigError, match="differ in more"):
        check(template if "Mode" not in template else template.replace("Obey them.", "Obey them now. " * 5))


def test_a_rubric_that_needs_more_room_is_refused_with_its_row() -> None:
    with pytest.raises(ConfigError, match="room for 50") as caught:
        check(CHATML.read_text(), room=50)
    assert caught.value.where == "row r7"


def test_a_row_without_a_rubric_is_an_error() -> None:
    with pytest.raises(ConfigError, match="this row has none"):
        check(CHATML.read_text(), criteria=[])
