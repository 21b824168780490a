"""Experiments to plan, small enough to count by hand."""

from collections.abc import Callable

import pytest

from components.core.spec import Experiment, load_experiment

CHAT = [
    "judge={use: external-example, endpoint: 'http://judge.ns.svc:8000'}",
    "judge.max_answer_tokens=100",
    "judge.answer_logprobs=true",
    "reward={use: likelihood-ratio, protocol: rubric_per_criterion, value: binary, temperature: 4.0}",
]
H800 = [
    "policy={use: qwen2.5-7b, chat_template: null}",
    "judge=qwen3-32b",
    "cluster=h800",
    "training.micro_batch=4",
]


@pytest.fixture
def chat() -> Callable[..., Experiment]:
    """The wiring experiment with a chat judge of somebody else: 3 steps x 4 x 4, 16 held-out rows, one criterion."""
    return lambda *overrides: load_experiment("tiny", [*CHAT, *overrides])


@pytest.fixture
def on_h800() -> Callable[..., Experiment]:
    """The wiring experiment's data with a 7B policy and Qwen3-32B on the cluster h800."""
    return lambda *overrides: load_experiment("tiny", [*H800, *overrides])
