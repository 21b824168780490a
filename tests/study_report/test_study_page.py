"""The study's page: self-contained, safe with text from outside, every number with its n and interval."""

import base64
import csv
import html
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from components.bias.estimate import Estimate
from components.bias.study_result import Skipped, StudyResult, read_study
from components.core.errors import ContractError
from components.drawing.figure import Figure
from components.study_report.__main__ import main
from components.study_report.summary import summarise
from components.study_report.write import write_report

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Checks that tags close in order, and keeps the text outside style and svg."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.text, self.ids, self.targets = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.targets += [attributes["href"]] if "href" in attributes else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []

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
    return parser


def text_of(page):
    return re.sub(r"\s+", " ", " ".join(outline(page).text))


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(study, folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_anywhere(page):
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    for attribute in ("src", "href", "xlink:href", "action", "poster", "data", "srcset"):
        for target in re.findall(rf'\s{attribute}\s*=\s*"([^"]*)"', without_namespaces):
            assert target.startswith(("#", "data:text/csv")), target
    assert "@import" not in page
    assert not re.search(r"<\s*(script|link|iframe|object|embed|img)\b", page, re.IGNORECASE)
    assert "default-src 'none'" in page
    assert 'name="viewport"' in page


def test_ids_are_unique_and_every_reference_meets_one(page):
    parser = outline(page)
    assert len(parser.ids) == len(set(parser.ids))
    assert {target[1:] for target in parser.targets if target.startswith("#")} <= set(parser.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(parser.ids)


def test_the_csv_links_hold_the_files_and_the_files_the_numbers(page, folder):
    links = re.findall(r'download="([^"]+)" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    files = {path.name: path for part in ("figures", "tables") for path in (folder / part).iterdir()}
    assert {name for name, _ in links} == set(files)
    assert len(links) == len(files) == page.count("<figure>") + len(list((folder / "tables").iterdir()))
    for name, data in links:
        assert base64.b64decode(data) == files[name].read_bytes()
    rows = list(csv.DictReader(io.StringIO((folder / "figures" / "biases_2.csv").read_text(encoding="utf-8"))))
    (row,) = [row for row in rows if (row["probe"], row["mode"]) == ("verbosity", "binary")]
    assert (float(row["value"]), row["n"], row["clusters"], row["flagged"]) == (pytest.approx(0.29), "48", "40", "yes")
    (unknown,) = [row for row in rows if row["value"] == ""]
    assert (unknown["probe"], unknown["unknown"]) == ("sycophancy", "48")


def test_every_figure_has_words_and_no_colour_of_its_own(page):
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        assert re.search(r"<title id=[^>]+>[^<]+</title><desc id=[^>]+>[^<]+</desc>", svg)
        assert not re.findall(r"#[0-9a-fA-F]{6}\b", svg)


def test_numbers_stand_with_interval_and_n(page):
    text = text_of(page)
    assert "+0.290 +0.230 to +0.350 n = 48 in 40 2 unknown" in text
    assert "unknown every pair is unknown n = 0 48 unknown" in text
    assert "slope +70.000 (95 % interval +50.000 to +90.000; n = 6 in 3), permutation p 0.330" in text
    assert "are not shown to go together" in text


def test_what_must_be_known_stands_first(page):
    text = text_of(page)
    order = [
        "This study is small.",
        "Failures counted as zero, on purpose.",
        "A judge accepts responses without content.",
        "Arms are missing.",
        "In plain words",
        "scripted-long (scripted control) is shown to be biased",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "out of memory at step 3" in text
    assert "no model-written items are mounted" in text


def test_a_cell_without_a_gain_is_unknown_and_no_level(folder):
    rows = list(csv.DictReader(io.StringIO((folder / "figures" / "cross_judge.csv").read_text(encoding="utf-8"))))
    assert {row["what"] for row in rows} == {"gain"}
    lost = [row for row in rows if (row["arm"], row["judge"]) == ("random-s2", "small-rubric")]
    assert [(row["value"], row["trained"]) for row in lost] == [("", "0.5")]


def test_a_feature_that_is_unknown_throughout_is_told_and_not_drawn(page, folder):
    assert (
        "Unknown throughout, and so not drawn: variety of words (different ones in 25) (shorter than a window)"
        in text_of(page)
    )
    assert not list((folder / "figures").glob("drift_*_variety.csv"))


def test_text_from_outside_stays_text(page):
    assert "mentions <b>tea</b>" not in page
    assert "mentions <b>tea</b>" in text_of(page)


def test_an_empty_study_still_reports(tmp_path):
    study = StudyResult(name="empty", created="2026", correction="Holm", seed=1)
    assert write_report(study, tmp_path)["effects_tested"] == 0
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Nothing was probed and nothing trained." in text
    assert read_study(tmp_path / "study.json") == study


def test_the_command_line_makes_the_same_page(study, folder, tmp_path, capsys):
    assert main([str(folder / "study.json"), str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "report.html").read_bytes() == (folder / "report.html").read_bytes()
    assert read_study(folder / "study.json") == study
    assert main([str(tmp_path / "none.json"), str(tmp_path)]) == 1
    assert "there is no study" in capsys.readouterr().err


def test_a_file_that_is_no_study_is_refused(tmp_path):
    (tmp_path / "study.json").write_text('{"name": 1}', encoding="utf-8")
    with pytest.raises(ContractError, match="not a study's result"):
        read_study(tmp_path / "study.json")


@pytest.mark.parametrize(
    "fields",
    [
        {"value": 0.1, "low": 0.0, "high": 0.2, "n": 0},
        {"value": 0.1, "n": 4},
        {"value": 0.1, "low": 0.2, "high": 0.1, "n": 4},
        {"value": 0.1, "low": 0.0, "n": 4, "why": "x"},
        {"value": None, "n": 0},
        {"value": float("nan"), "n": 4, "why": "x"},
        {"value": 0.1, "low": 0.0, "high": 0.2, "n": 4, "clusters": 5},
    ],
)
def test_a_number_without_its_basis_is_refused(fields):
    with pytest.raises(ValueError, match="validation error"):
        Estimate(**fields)


def test_what_is_no_number_becomes_unknown():
    assert Estimate.of(float("nan"), 0.0, 1.0, n=3, why="no variation").value is None
    assert Estimate.of(0.5, 0.1, float("inf"), n=3, why="no variation").low is None


def test_agreement_noise_and_chances_stand_with_their_basis_or_their_reason(page):
    text = text_of(page)
    assert (
        "as in training 70.0 % 64.0 % to 76.0 % n = 48 in 40 unknown it takes right and wrong responses n = 0" in text
    )
    assert "small-rubric unknown: no probe asked the same twice" in text
    assert "+12.5 points +6.5 to +18.5 n = 48 in 40 \u22125.0 points \u221211.0 to +1.0 n = 48 in 40" in text
    assert "Against gold on held-out responses small-lr is right in 70.0 %" in text


def test_remedies_are_told_with_and_without_an_interval_and_absent_ones_with_the_reason(page):
    text = text_of(page)
    assert "drift: length small-rubric drift with failures counted as zero" in text
    assert "+26.0 one seed n = 1 not shown" in text
    assert "Masking: 1 comparison, without an interval." in text
    assert (
        "Length control is shown to make a bias or drift smaller in 1 of 1 comparison, and larger in 0; most of all"
        in text
    )
    assert "Swap average: no probe was asked <i>pairwise</i>." in text
    assert "<i>pairwise</i>" not in page


def test_the_tables_hold_every_number_in_full(folder):
    names = {path.stem for path in (folder / "tables").iterdir()}
    kinds = {"agreement", "calibration", "noise", "opportunity", "remedies", "contrasts", "leakage", "absent"}
    assert names == kinds
    rows = list(csv.DictReader(io.StringIO((folder / "tables" / "remedies.csv").read_text(encoding="utf-8"))))
    assert [(row["remedy"], row["smaller_by"], row["smaller_by_low"], row["smaller_by_why"]) for row in rows] == [
        ("length_control", "0.26", "0.2", ""),
        ("masking", "26.0", "", "one seed"),
    ]
    noise = list(csv.DictReader(io.StringIO((folder / "tables" / "noise.csv").read_text(encoding="utf-8"))))
    assert [row["alpha_why"] for row in noise] == ["", "no probe asked the same twice", ""]


@pytest.mark.parametrize(
    ("least", "words"),
    [
        ((0.182, 0.26), "An effect must be 0.18 to 0.26, by the probe, to be found four times in five."),
        ((0.182, 0.182), "An effect must be 0.18 to be found four times in five."),
        ((None, None), "which does not prove that there is none."),
    ],
)
def test_what_could_have_been_found_is_told_of_all_probes_and_not_of_the_worst(study, least, words):
    judge = next(judge for judge in study.judges if not judge.scripted)
    none = [bias for bias in judge.biases if not bias.flagged][:2]
    biases = [bias.model_copy(update={"detectable": size}) for bias, size in zip(none, least, strict=True)]
    quiet = study.model_copy(update={"judges": (judge.model_copy(update={"biases": tuple(biases)}),)})
    (told,) = (line for line in summarise(quiet) if line.startswith(f"{judge.name}: none of 2 probes"))
    assert told.endswith(words)


@pytest.mark.parametrize("where", ["folder", "no_study"])
def test_what_cannot_be_read_or_written_is_told_in_a_line(folder, tmp_path, capsys, where):
    (tmp_path / "taken").write_text("a file")
    source = folder / "study.json" if where == "folder" else tmp_path
    assert main([str(source), str(tmp_path / "taken")]) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert str(tmp_path) in told


def in_browser(page, width, script, folder):
    """What ``script``, the body of a function of the page's document ``d``, returns in a window of this width."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine (apt install chromium)")
    frame = folder / f"{width}.html"
    frame.write_text(
        f'<body><iframe id="f" src="{page.as_uri()}" style="width:{width}px;height:900px;border:0"></iframe><script>'
        f"f.onload = () => {{ const shown = (d) => {{ {script} }}; "
        "document.body.dataset.found = JSON.stringify(shown(f.contentDocument)); };</script></body>",
        encoding="utf-8",
    )
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--allow-file-access-from-files",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=10000",
        "--dump-dom",
        frame.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    found = re.search(r'data-found="([^"]*)"', dom)
    assert found, dom[:500]
    return json.loads(html.unescape(found[1]))


@pytest.mark.slow
def test_a_browser_shows_it_at_every_width_without_sideways_scrolling(folder, tmp_path):
    script = "const e = d.documentElement; return [e.scrollWidth, e.clientWidth, d.querySelectorAll('svg').length];"
    for width in (360, 768, 1280):
        scroll, client, drawings = in_browser(folder / "report.html", width, script, tmp_path)
        assert scroll <= client, f"at {width} pixels the page is {scroll} wide"
        assert drawings == (folder / "report.html").read_text(encoding="utf-8").count("<figure>")


@pytest.mark.slow
def test_on_a_phone_the_probe_and_its_flag_stay_in_sight_while_the_table_scrolls(folder, tmp_path, study):
    script = """
        const table = d.querySelector('.scroll'), rows = [...table.querySelectorAll('tbody tr')];
        const told = () => rows.map((row) => {
            const flag = [...row.querySelectorAll('.flag')].filter((each) => each.checkVisibility());
            const box = flag[0].getBoundingClientRect(), name = row.querySelector('th').getBoundingClientRect();
            return [flag.length, flag[0].textContent, box.left >= 0 && box.right <= 390, name.left];
        });
        const before = told(), end = table.scrollWidth - table.clientWidth;
        table.scrollLeft = end;
        return [end, before, told(), table.scrollLeft];
    """
    end, before, after, scrolled = in_browser(folder / "report.html", 390, script, tmp_path)
    assert scrolled == end > 0
    flags = ["▲ flagged" if bias.flagged else "not shown" for bias in study.judges[0].biases]
    assert before == after == [[1, flag, True, before[0][3]] for flag in flags]
    end, before, after, _ = in_browser(folder / "report.html", 1280, script.replace("390", "1280"), tmp_path)
    assert [row[:3] for row in before] == [[1, flag, True] for flag in flags]


@pytest.mark.slow
def test_what_is_closed_on_the_screen_is_open_on_paper(folder, tmp_path):
    # What is for print alone is made to hold on the screen: a page cannot see itself printed.
    script = """
        const all = [...d.querySelectorAll('details')];
        const seen = () => all.map((each) => [...each.querySelectorAll('td, pre')].every((e) => e.checkVisibility()));
        const before = seen();
        for (const sheet of d.styleSheets) for (const rule of sheet.cssRules) {
            if (rule.media && rule.media.mediaText === 'print') rule.media.mediaText = 'all';
        }
        return [all.some((each) => each.open), before, seen()];
    """
    opened, before, after = in_browser(folder / "report.html", 800, script, tmp_path)
    assert not opened
    assert len(before) == (folder / "report.html").read_text(encoding="utf-8").count("<details>") > 0
    assert not any(before)
    assert all(after)


def test_a_table_that_goes_on_shows_it_and_needs_no_script(page):
    style = page.partition("<style>")[2].partition("</style>")[0]
    shadows, printed = re.findall(r"\.scroll \{\s*background:([^;]*);", style)
    assert printed.strip() == "none"
    # Two that stay at the edges, and two that scroll along and cover them where the table ends.
    assert (shadows.count("no-repeat scroll"), shadows.count("no-repeat local")) == (2, 2)
    assert "details::details-content" in style.rpartition("@media print")[2]
    assert page.count('<div class="scroll" tabindex="0"><table>') == page.count("<table>")


def test_what_is_mostly_unknown_and_parts_that_failed_are_told_first(study, tmp_path):
    known, few = study.judges[0].biases[0], Estimate.of(0.3, 0.1, 0.5, n=30, clusters=30, unknown=18)
    judge = study.judges[0].model_copy(update={"biases": (known.model_copy(update={"effect": few}),)})
    lost = Skipped(what="scores of arm a by judge b", reason="the judge is down", failed=True)
    changed = study.model_copy(update={"judges": (judge,), "skipped": (*study.skipped, lost)})
    write_report(changed, tmp_path)
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    first = text[: text.index("In plain words")]
    assert "Much is unknown. small-lr, position (binary): 18 of 48 items" in first
    assert "Parts failed. scores of arm a by judge b: the judge is down." in first


def test_names_with_signs_of_formulas_are_text_and_no_name_leads_out_of_the_folder(study, tmp_path):
    hostile = "$x_{ =1+1 ../../out"
    arm = study.arms[0]
    drift = tuple(row.model_copy(update={"feature": hostile, "criterion": hostile}) for row in arm.drift)
    crossing = study.crossings[0].model_copy(update={"arm": hostile, "judge": hostile})
    arms = (arm.model_copy(update={"judge": hostile, "policy": hostile, "drift": drift}), *study.arms[1:])
    changed = study.model_copy(update={"arms": arms, "crossings": (crossing, *study.crossings[1:])})
    write_report(changed, tmp_path / "report")
    assert "$x_{" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_cell_that_a_spreadsheet_would_compute_is_text():
    rows = (("=1+1", -0.5), ("+a", None), ("-b", 2), ("@c", 1), ("plain", 1))
    written = Figure("k", "t", "", "", ("name", "value"), rows).csv()
    cells = [row[0] for row in csv.reader(io.StringIO(written))][1:]
    assert cells == ["'=1+1", "'+a", "'-b", "'@c", "plain"]
    assert "-0.5" in written
