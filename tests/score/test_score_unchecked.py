"""Rows without hidden checks: scored by the judge, and null where nothing else was looked at."""

import json

from components.core.contracts import PROMPTS, SCORES, write_table
from components.gold.checks import GoldChecks
from components.judge.verdict import Criterion, Sample
from components.score.responses import Response, read_prompts


def prompt_row(number, truth):
    return {
        "prompt": [{"role": "user", "content": f"Write about {number}."}],
        "data_source": "mine",
        "ability": "instruction_following",
        "reward_model": {"style": "rubric", "ground_truth": truth},
        "extra_info": {
            "id": str(number),
            "index": number,
            "split": "heldout",
            "question": f"Write about {number}.",
            "rubric": '[{"text": "is polite", "points": 1.0}]',
            "template": str(number),
        },
    }


def test_null_is_no_check_and_an_object_is_one(tmp_path):
    path = tmp_path / "heldout.parquet"
    write_table(path, [prompt_row(0, "null"), prompt_row(1, '{"word_list": "animals"}')], PROMPTS)
    prompts = read_prompts(path)
    assert prompts["0"].checks is None
    assert prompts["1"].checks == GoldChecks("animals")


def test_a_response_without_checks_has_a_reward_and_a_length_alone(tmp_path):
    sample = Sample("0", "base-0-0", "Write.", "Please, have a seat.", (Criterion("is polite"),))
    row = Response("base", -1, sample, 0, None).scored("scored", 0.75)
    assert {key: row[key] for key in ("gold", "keyword", "echo", "length_ok")} == {
        "gold": None,
        "keyword": None,
        "echo": None,
        "length_ok": None,
    }
    assert (row["judge_reward"], row["words"], json.loads(row["gold_detail"])) == (0.75, 4, {})
    assert write_table(tmp_path / "scores.parquet", [row], SCORES) == 1


def test_rules_that_the_reward_looks_at_are_no_gold(tmp_path):
    """The fraction of rule lines met is part of the reward, so that it cannot check the reward."""
    path = tmp_path / "heldout.parquet"
    rubric = json.dumps(
        [
            {
                "text": "is short",
                "points": 1.0,
                "verifier": "rule",
                "rule": {"name": "word_count_range", "min_count": 1, "max_count": 9},
            }
        ]
    )
    row = prompt_row(0, "null")
    row["extra_info"]["rubric"] = rubric
    write_table(path, [row], PROMPTS)
    prompt = read_prompts(path)["0"]
    assert prompt.criteria[0].rule is not None
    scored = Response("base", -1, Sample("0", "s", "q", "One two.", prompt.criteria), 0, prompt.checks)
    assert scored.scored("scored", 1.0)["gold"] is None
