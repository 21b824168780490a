import itertools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import ConfigError, ContractError
from components.data.sentences.source import FOLDER, SLOT, read_lines, sentence_items
from components.gold.checks import GoldChecks
from components.gold.text import FUNCTION_WORDS, words
from components.gold.wordlists import load_word_list
from components.judge.verdict import Criterion

CRITERIA = (Criterion("mentions an animal"),)
FILES = {
    "train": (FOLDER / "train_templates.txt", FOLDER / "subjects_train.txt"),
    "heldout": (FOLDER / "heldout_templates.txt", FOLDER / "subjects_heldout.txt"),
}


def items(split: str, rows: int, seed: int = 1):
    return sentence_items(*FILES[split], rows, seed=seed, criteria=CRITERIA, gold=GoldChecks("animals"))


def all_prompts(split: str) -> list[str]:
    templates, subjects = (read_lines(path) for path in FILES[split])
    return [template.replace(SLOT, subject) for template, subject in itertools.product(templates, subjects)]


def test_there_are_enough_distinct_prompts():
    assert len(set(all_prompts("train"))) >= 256
    assert len(set(all_prompts("heldout"))) >= 96
    assert len(set(all_prompts("train")) | set(all_prompts("heldout"))) == sum(
        len(all_prompts(split)) for split in FILES
    )


def test_splits_share_neither_templates_nor_words_of_subjects():
    templates = [set(read_lines(FILES[split][0])) for split in FILES]
    assert not templates[0] & templates[1]
    subjects = [
        {word for line in read_lines(FILES[split][1]) for word in words(line) if word not in FUNCTION_WORDS}
        for split in FILES
    ]
    assert not subjects[0] & subjects[1]


@pytest.mark.parametrize("split", FILES)
@pytest.mark.parametrize("topic", ["animals", "foods"])
def test_no_prompt_calls_for_the_topic(split, topic):
    named = {"animals": {"animal", "creature", "pet", "wildlife", "zoo"}, "foods": {"food", "meal", "eat", "snack"}}
    for prompt in all_prompts(split):
        assert load_word_list(topic).find(prompt) == [], prompt
        assert not named[topic] & set(words(prompt)), prompt


@pytest.mark.parametrize("split", FILES)
def test_prompts_are_short(split):
    # SmolLM2's tokenizer gives 15 tokens for the longest of them, at 13 words and marks.
    assert max(len(prompt.split()) for prompt in all_prompts(split)) <= 13


@given(seed=st.integers(0, 2**31 - 1), rows=st.integers(1, 480))
def test_any_seed_gives_distinct_prompts_from_all_templates_evenly(seed, rows):
    found = items("heldout", rows, seed)
    assert len({item.question for item in found}) == rows
    used = Counter(item.template for item in found)
    assert max(used.values()) - min(used.values()) <= 1 or len(used) == 1
    assert len(used) == min(rows, 12)
    subjects = Counter(item.question for item in found)
    assert max(subjects.values()) == 1


def test_subjects_are_used_about_equally_often():
    found = items("heldout", 96)
    subjects = read_lines(FILES["heldout"][1])
    counts = [sum(item.template.replace(SLOT, subject) == item.question for item in found) for subject in subjects]
    assert sum(counts) == 96
    assert max(counts) <= 4
    assert min(counts) >= 1


def test_seed_decides_and_nothing_else():
    assert items("train", 50, seed=3) == items("train", 50, seed=3)
    assert items("train", 50, seed=3) != items("train", 50, seed=4)
    assert items("train", 50, seed=3) == items("train", 200, seed=3)[:50]


def test_too_many_rows_say_how_many_there_are():
    with pytest.raises(ConfigError, match="480") as caught:
        items("heldout", 481)
    assert "heldout_rows" in str(caught.value)


@pytest.mark.parametrize(
    ("templates", "subjects", "message"),
    [
        ("", "a hat\n", "empty"),
        ("About {subject}.\nAbout {subject}.\n", "a hat\n", "twice"),
        ("About a hat.\n", "a hat\n", "exactly once"),
        ("From {subject} to {subject}.\n", "a hat\n", "exactly once"),
        ("About {subject}.\n", "a hat\n\na hat\n", "twice"),
        ("About {subject}.\n", None, "missing"),
    ],
)
def test_a_wrong_source_file_is_named(tmp_path: Path, templates, subjects, message):
    (tmp_path / "t.txt").write_text(templates)
    if subjects is not None:
        (tmp_path / "s.txt").write_text(subjects)
    with pytest.raises(ContractError, match=message) as caught:
        sentence_items(tmp_path / "t.txt", tmp_path / "s.txt", 1, seed=0, criteria=CRITERIA, gold=GoldChecks())
    assert caught.value.where.startswith(str(tmp_path))


def topic_items(split: str, topic: str | None):
    templates = FOLDER / f"{split}_templates_topic.txt"
    return sentence_items(
        templates, FILES[split][1], 96, seed=1, criteria=CRITERIA, gold=GoldChecks("animals"), topic=topic
    )


@pytest.mark.parametrize("split", FILES)
def test_a_topic_is_asked_for_in_every_prompt(split):
    questions = [item.question for item in topic_items(split, "an animal")]
    assert all(question.count("an animal") == 1 and "{" not in question for question in questions)
    assert len(set(questions)) == 96


def test_topic_templates_of_the_splits_differ():
    train, heldout = (set(read_lines(FOLDER / f"{split}_templates_topic.txt")) for split in FILES)
    assert not train & heldout


def test_a_topic_and_templates_that_do_not_go_together_are_refused():
    with pytest.raises(ConfigError, match=r"data\.topic None"):
        topic_items("train", None)
    with pytest.raises(ConfigError, match="do not go together"):
        sentence_items(*FILES["train"], 8, seed=1, criteria=CRITERIA, gold=GoldChecks("animals"), topic="an animal")
