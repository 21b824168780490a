"""Sentences of the report about the experiment."""

from components.core.spec import load_experiment
from components.report.settings import what_was_trained


def test_one_of_a_thing_has_no_plural() -> None:
    sizes = ["training.prompts_per_step=1", "training.mini_batch_prompts=1", "training.micro_batch=1"]
    one = what_was_trained(load_experiment("tiny", ["training.steps=1", *sizes]))
    assert " 1 step of 1 prompt with " in one
    assert " 3 steps of " in what_was_trained(load_experiment("tiny", ["training.steps=3"]))
