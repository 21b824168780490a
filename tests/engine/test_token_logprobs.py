"""Log-probabilities in blocks against ``log_softmax`` in float64, and that verl takes them."""

import importlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("verl")

from verl.utils import torch_functional

from components.engine import logprobs


def truth(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    whole = torch.log_softmax(logits.double(), dim=-1)
    return whole.gather(-1, labels.unsqueeze(-1)).squeeze(-1)


@given(
    shape=st.one_of(st.tuples(st.integers(0, 9)), st.tuples(st.integers(1, 3), st.integers(0, 5))),
    vocabulary=st.integers(1, 20),
    block=st.integers(1, 60),
    kind=st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16]),
    seed=st.integers(0, 1000),
)
def test_values_and_gradients_are_those_of_log_softmax(shape, vocabulary, block, kind, seed):
    draw = torch.Generator().manual_seed(seed)
    logits = (torch.randn(*shape, vocabulary, generator=draw) * 8).to(kind).requires_grad_()
    labels = torch.randint(0, vocabulary, shape, generator=draw)
    weights = torch.randn(*shape, generator=draw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logprobs, "BLOCK", block)
        found = logprobs.token_logprobs(logits, labels)
        (slopes,) = torch.autograd.grad((found * weights).sum(), logits)
    expected = truth(logits, labels)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), logits)
    assert found.dtype == torch.float32
    assert slopes.dtype == kind
    # Sums are in float32 whatever the logits are; gradients are rounded to the logits' own type.
    assert torch.allclose(found.double(), expected, atol=2e-5)
    assert torch.allclose(slopes.double(), wanted.double(), atol=2e-5, rtol=float(torch.finfo(kind).eps))


def test_verl_takes_them_where_it_has_no_kernel(monkeypatch):
    monkeypatch.setattr(torch_functional, "FLAH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE", False)
    monkeypatch.setattr(torch_functional, "NPU_CROSS_ENTROPY_LOSS_AVAILABLE", False)
    importlib.import_module("components.engine.actor_engine")
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]], dtype=torch.bfloat16)
    found = torch_functional.logprobs_from_logits(logits, torch.tensor([1, 0]))
    # ln(1/4), and 2 - ln(e^2 + 3): verl's own path rounds both to bfloat16, by up to 0.004.
    assert found.tolist() == pytest.approx([-1.3862944, -0.3407529], abs=1e-5)
