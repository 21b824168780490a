"""Figures: what is drawn is what is downloaded, the same bytes each time, readable without colour or sight."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

import pytest

from components.drawing import svg
from components.drawing.figure import Figure
from components.report import plots
from components.report.evidence import read_evidence
from components.report.figures import build_figures
from components.report.heldout import Sampling, analyse_heldout
from components.report.training import analyse_training

SAMPLING = Sampling(resamples=100, confidence=0.95, seed=1)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figures(written):
    evidence = read_evidence(written.inputs)
    heldout = analyse_heldout(evidence.answers, evidence.templates, SAMPLING)
    return {figure.key: figure for figure in build_figures(heldout, analyse_training(evidence, SAMPLING))}


@pytest.fixture(scope="module")
def drawings(figures):
    return {key: plots.draw(figure) for key, figure in figures.items()}


def test_all_are_there(figures):
    assert list(figures) == [
        "heldout_levels",
        "heldout_gains",
        "judge_gain_parts",
        "proxy_gold_by_step",
        "echo_length_by_step",
        "step_times",
    ]


def test_the_csv_holds_the_numbers_of_the_run(figures):
    rows = list(csv.DictReader(io.StringIO(figures["proxy_gold_by_step"].csv())))
    assert [row["step"] for row in rows] == [str(step) for step in range(1, 9)]
    assert float(rows[0]["proxy"]) == pytest.approx(0.275)
    assert [float(row["gold"]) for row in rows] == pytest.approx([0.25, 0.25, 0.5, 0.75, 0.5, 0.5, 0.25, 0.0])
    levels = {row["measure"]: row for row in csv.DictReader(io.StringIO(figures["heldout_levels"].csv()))}
    assert float(levels["gold"]["trained"]) == 56 / 96
    assert levels["judge_reward"]["prompts"] == "94"
    assert "words" not in levels


def test_an_unknown_value_is_an_empty_cell():
    figure = Figure("k", "t", "c", "a", ("step", "value"), ((1, None), (2, 0.1)))
    assert figure.csv() == "step,value\n1,\n2,0.1\n"


def test_drawing_twice_gives_the_same_bytes(figures, drawings):
    assert all(plots.draw(figure) == drawings[key] for key, figure in figures.items())


def test_each_is_well_formed_and_says_what_it_shows(figures, drawings):
    for key, text in drawings.items():
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text == figures[key].title
        assert root.find(f"{SVG}desc").text == figures[key].alt
        assert figures[key].alt
        assert root.get("width") is None
        assert "metadata" not in text


def test_ids_are_unique_over_the_page_and_every_reference_meets_one(drawings):
    text = "".join(drawings.values())
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)


def test_colours_come_from_the_page(drawings):
    for key, text in drawings.items():
        assert not re.findall(r"#[0-9a-fA-F]{6}\b", text), key
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", "".join(drawings.values()))) <= {
        "--grid",
        "--base",
        "--trained",
        "--gold",
        "--proxy",
        *(f"--extra-{number}" for number in range(len(svg.EXTRA))),
    }


def test_lines_differ_by_more_than_colour(figures):
    looks = [plots._LOOK[name][1:3] for name in ("proxy", "gold", "echo", "words")]
    assert len({style for style, _ in looks}) == 4
    assert len({marker for _, marker in looks}) == 4


def test_text_stays_text(drawings):
    assert ">Passes the gold check</text>" in drawings["heldout_levels"]
    assert ">training step</text>" in drawings["proxy_gold_by_step"]


def test_gaps_are_left_where_a_step_is_unknown():
    columns = ("step", "proxy", "proxy_error", "proxy_n", "gold", "gold_error", "gold_n")
    rows = ((1, 0.2, 0.1, 4, 0.5, 0.1, 4), (2, None, None, 0, 0.5, None, 4), (3, 0.4, 0.1, 4, 0.5, 0.1, 4))
    text = plots.draw(Figure("proxy_gold_by_step", "t", "c", "a", columns, rows))
    assert "nan" not in text.lower().replace("nano", "")


def test_a_figure_without_data_is_left_out(world, tmp_path):
    world.rollouts = {}
    evidence = read_evidence(world.write(tmp_path))
    heldout = analyse_heldout(evidence.answers, evidence.templates, SAMPLING)
    keys = [figure.key for figure in build_figures(heldout, analyse_training(evidence, SAMPLING))]
    assert keys == ["heldout_levels", "heldout_gains", "judge_gain_parts"]
