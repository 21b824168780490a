"""The experiment specification: what people write in ``configs/``, validated and resolved."""

from components.core.spec.experiment import Experiment
from components.core.spec.load import load_experiment

__all__ = ["Experiment", "load_experiment"]
