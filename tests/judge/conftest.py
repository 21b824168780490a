"""A small model with outspoken opinions: a freshly initialised one finds all tokens alike and would hide mistakes."""

from pathlib import Path

import pytest
from hypothesis import settings

from components.judge.server.engine import Engine

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import AutoModelForCausalLM

    from components.models.tiny import write_tiny

    folder = tmp_path_factory.mktemp("model")
    write_tiny(folder, seed=3)
    model = AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(4)
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data.normal_(0.0, 0.2)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def engine(model_folder: Path) -> Engine:
    from components.judge.server.model import Model
    from components.judge.server.text import Text

    return Engine(Model(model_folder), Text(model_folder), max_batch=4)
