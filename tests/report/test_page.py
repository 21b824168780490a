"""The page: self-contained, safe with text from outside, honest about the judge and about what is unknown."""

import base64
import dataclasses
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from components.core.spec import load_experiment
from components.report.settings import RANKS_ONLY, SAME_MODEL, judged
from components.report.step import STEP

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Checks that tags close in order, and keeps the text outside style and svg."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))

    def handle_data(self, data):
        if not {"style", "svg"} & set(self.open):
            self.text.append(data)


def outline(page):
    parser = Outline()
    parser.feed(page)
    assert parser.faults == []
    assert parser.open == []
    return re.sub(r"\s+", " ", " ".join(parser.text))


@pytest.fixture(scope="module")
def page(written):
    return (written.out / "report.html").read_text(encoding="utf-8")


def test_it_is_well_formed_and_leads_with_the_judge_and_the_verdict(page, experiment):
    text = outline(page)
    order = [
        "Weak judge.",
        experiment.judge.weak,
        SAME_MODEL,
        "A real gain, and hacking of the judge beside it",
        "Real: ",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_nothing_is_loaded_from_anywhere(page):
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    for attribute in ("src", "href", "xlink:href", "action", "poster", "data", "srcset"):
        for target in re.findall(rf'\s{attribute}\s*=\s*"([^"]*)"', without_namespaces):
            assert target.startswith(("#", "data:text/csv")), target
    assert "@import" not in page
    assert not re.search(r"<\s*(script|link|iframe|object|embed|img)\b", page, re.IGNORECASE)
    assert not re.search(r"url\(\s*[\"']?(?!#)", page)
    assert "default-src 'none'" in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</div></body></html>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; & \u202e \x1b[31m",
)


def test_responses_stay_text(make_context, world):
    for number, text in enumerate(HOSTILE):
        world.texts[f"trained-heldout-{12 + number:03d}-0"] = text
    world.trained[12 : 12 + len(HOSTILE)] = ["echo"] * len(HOSTILE)
    world.base[12 : 12 + len(HOSTILE)] = ["rude"] * len(HOSTILE)
    context = make_context(world)
    STEP.run(context)
    page = (context.out / "report.html").read_text(encoding="utf-8")
    text = outline(page)
    assert not re.search(r"<\s*(script|img)\b", page, re.IGNORECASE)
    # The largest gains among the echoes are shown: the first four of these.
    for shown in HOSTILE[:4]:
        assert html.escape(shown, quote=False).replace('"', "&#34;") in page
        assert re.sub(r"\s+", " ", shown) in text


def test_the_csv_links_hold_the_files(page, written):
    links = re.findall(r'download="([^"]+)" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    assert len(links) == 6
    for name, data in links:
        assert base64.b64decode(data) == (written.out / "figures" / name).read_bytes()


def test_the_numbers_are_there_with_n_and_interval(page):
    text = outline(page)
    assert "12.5 % → 58.3 %, change +45.8 points, 95 % interval" in text
    assert "n = 96 prompts" in text
    assert "n = 94 prompts, 2 left out as unknown" in text
    assert "Groups with fewer than two scored rollouts, which are masked and train nothing: 1 of 32." in text
    assert "Rollouts that abstained, by reason: timeout: 4." in text


def test_what_the_trainer_did_not_record_is_said(make_context, world):
    context = make_context(dataclasses.replace(world, seconds=False))
    STEP.run(context)
    text = outline((context.out / "report.html").read_text(encoding="utf-8"))
    assert "Step times: not recorded." in text
    assert "Gradient norm actor/grad_norm not recorded not recorded" in text
    assert not (context.out / "figures" / "step_times.csv").exists()


def test_the_whole_experiment_and_its_lineage_are_there(page, experiment):
    text = outline(page)
    assert experiment.digest() in text
    assert "learning_rate: 3.0e-05" in text
    assert "a" * 64 in text
    assert "c" * 40 in text
    assert "s3://gavel/quickstart/data" in text
    assert "python tests/report/recompute.py" in text


def test_a_strong_judge_gets_no_warning(make_context, world):
    overrides = ["judge.weak=null", "judge.source={kind: hub, repo: someone/else}", "judge.serving=vllm"]
    strong = load_experiment(Path(__file__).resolve().parents[2] / "configs/experiments/quickstart.yaml", overrides)
    context = dataclasses.replace(make_context(world), experiment=strong)
    STEP.run(context)
    text = outline((context.out / "report.html").read_text(encoding="utf-8"))
    assert "Weak judge." not in text
    assert SAME_MODEL not in text
    assert RANKS_ONLY in text


def test_only_the_likelihood_ratio_is_said_to_rank_only(make_context, world):
    spec = make_context(world).experiment
    assert judged(spec).scale == RANKS_ONLY
    reward = spec.reward.model_copy(update={"protocol": "rubric", "value": "binary"})
    assert judged(spec.model_copy(update={"reward": reward})).scale is None


def test_a_run_without_rollouts_still_reports(make_context, world):
    context = make_context(dataclasses.replace(world, rollouts={}))
    STEP.run(context)
    text = outline((context.out / "report.html").read_text(encoding="utf-8"))
    assert "not defined (a value never varies inside a group, n = 0)" in text
