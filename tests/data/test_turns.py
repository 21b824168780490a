import re

from hypothesis import given
from hypothesis import strategies as st

from components.data.turns import Turn, question_of, read_turns

WORDS = st.text(st.sampled_from("ab :\n\r\u2028Turn 2,assistan"), min_size=1, max_size=40).filter(str.strip)


def test_a_text_is_one_user_turn_even_if_it_looks_like_json():
    assert read_turns("[1, 2]", where="") == (Turn("user", "[1, 2]"),)
    assert read_turns(' {"role": "user"} ', where="") == (Turn("user", '{"role": "user"}'),)
    assert read_turns('[{"role": "user", "content": "Hello."}]', where="") == (Turn("user", "Hello."),)


def test_one_user_turn_is_its_text_also_behind_a_system_turn():
    assert question_of([Turn("user", "Hello.\n\nWorld.")]) == "Hello.\n\nWorld."
    assert question_of([Turn("system", "Be brief."), Turn("user", "Hello.")]) == "Hello."


def test_blank_lines_stay_blank():
    turns = [Turn("user", "a\n\nb"), Turn("assistant", "c"), Turn("user", "d")]
    assert question_of(turns) == "Turn 1, user:\n    a\n\n    b\n\nTurn 2, assistant:\n    c\n\nTurn 3, user:\n    d"


@given(texts=st.lists(WORDS, min_size=2, max_size=5))
def test_no_text_passes_for_a_turn(texts):
    roles = ["user" if place % 2 == 0 else "assistant" for place in range(len(texts))]
    shown = question_of([Turn(role, text.strip()) for role, text in zip(roles, texts, strict=True)])
    heads = [line for line in re.split("[\n\r\u2028]", shown) if line and not line.startswith("    ")]
    assert heads == [f"Turn {number}, {role}:" for number, role in enumerate(roles, start=1)]
