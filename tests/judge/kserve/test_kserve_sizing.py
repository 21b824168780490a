"""Sizes and times of judges, against figures by hand."""

import pytest
from kserve_specs import judge, tiny

from components.judge.kserve.sizing import load_seconds, memory_gib, size_label, start_seconds, weight_gib


@pytest.mark.parametrize(
    ("parameters", "label"),
    [
        (None, "unknown"),
        (999, "999"),
        (139_840, "140k"),
        (134_515_008, "135M"),
        (999_960_000, "1000M"),
        (8_190_735_360, "8.19B"),
        (32_762_123_264, "32.8B"),
        (117_000_000_000, "117B"),
    ],
)
def test_sizes_for_people(parameters: int | None, label: str) -> None:
    assert size_label(parameters) == label


def test_weights_are_parameters_times_bytes_unless_stated() -> None:
    # 2^30 parameters of two bytes are 2 GiB, of four 4 GiB.
    assert weight_gib(judge(parameters=2**30)) == 2.0
    assert weight_gib(judge(parameters=2**30, deployment={"dtype": "float32"})) == 4.0
    assert weight_gib(tiny(parameters=2**30)) == 4.0
    assert weight_gib(judge(deployment={"weight_gib": 60.8})) == 60.8
    assert weight_gib(judge(parameters=None)) is None


def test_a_start_is_given_time_by_the_weights() -> None:
    # 10 GiB: 600 + 10 / 0.2 s to load; 900 for the image and 10 / 0.05 s to fetch come before.
    spec = judge(deployment={"weight_gib": 10.0})
    assert load_seconds(spec) == 650.0
    assert start_seconds(spec) == 650.0 + 900.0 + 200.0
    assert load_seconds(judge(parameters=None)) == 3600.0
    assert start_seconds(judge(deployment={"start_minutes": 10.0})) == 1500.0


def test_memory_has_room_for_the_weights() -> None:
    assert memory_gib(judge(deployment={"weight_gib": 10.0}), 16.0) == 34
    assert memory_gib(judge(deployment={"memory_gib": 200.5}), 16.0) == 201
    assert memory_gib(judge(parameters=None), 0.0) == 24
