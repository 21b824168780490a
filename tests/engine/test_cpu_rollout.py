"""The CPU rollout answers every request, with an error where there is no text."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from components.core.errors import StepError
from components.core.spec.source import TinySource
from components.models.materialize import materialize

pytest.importorskip("verl")
pytestmark = pytest.mark.verl


def test_weights_that_the_training_spoiled_are_told_to_whoever_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from components.engine.cpu.rollout import RolloutServer

    monkeypatch.setenv("GAVEL_TRAIN_FOLDER", str(tmp_path))
    folder = materialize(TinySource(kind="tiny", seed=0), tmp_path / "cache")
    server = RolloutServer(SimpleNamespace(response_length=4, seed=1), SimpleNamespace(path=str(folder)), 0)
    params = {"temperature": 1.0, "top_p": 1.0, "top_k": -1}

    async def ask() -> list[object]:
        calls = [server.generate([5, 6, 7 + number], params, str(number)) for number in range(2)]
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)

    assert all(len(answer.token_ids) == 4 for answer in asyncio.run(ask()))
    with torch.no_grad():
        server._model.model.norm.weight.fill_(torch.nan)
    answers = asyncio.run(ask())
    assert [type(answer) for answer in answers] == [StepError, StepError]
    assert "NaN" in str(answers[0])
