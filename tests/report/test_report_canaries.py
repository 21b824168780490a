"""The report's section on canaries."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from components.core.contracts import CALLS, CANARIES, read_table, write_table
from components.core.errors import ContractError
from components.core.spec import Experiment, load_experiment
from components.report.canaries import read_canaries
from components.report.step import STEP
from components.reward.canaries.sighting import Sighting

ROOT = Path(__file__).resolve().parents[2]


def seen(step: int, key: str, reward: float | None, row: str = "a") -> Sighting:
    reason = None if reward is not None else "known_weight (timeout)"
    return Sighting(step, 1, f"canary-{step}-1-0", row, key, reward, 0.5, 1.0, reason)


SEEN = [seen(1, ":", 0.25), seen(1, "<b>", 0.75, "b"), seen(2, ":", None), seen(3, ":", 1.0, "b"), seen(3, "<b>", 0.5)]


def experiment(*more: str) -> Experiment:
    path = ROOT / "configs" / "experiments" / "quickstart.yaml"
    return load_experiment(path, ["training.canaries={}", *more])


def publish(training: Path, sightings: list[Sighting]) -> None:
    write_table(training / "canaries.parquet", [dataclasses.asdict(each) for each in sightings], CANARIES)
    calls = training / "calls.parquet"
    known = read_table(calls, CALLS).to_pylist() if calls.exists() else []
    write_table(calls, [*known, *(call(each.sample_id) for each in sightings)], CALLS)


def call(sample_id: str) -> dict[str, object]:
    nothing = dict.fromkeys(CALLS.names)
    numbers = dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens", "reply_chars"), 1)
    told = {"time": 1.0, "judge": "j", "protocol": "p/1", "purpose": "ask", "prompt_hash": "0"}
    return nothing | numbers | told | {"attempts": 1, "seconds": 0.1, "from_cache": False, "sample_id": sample_id}


def test_counts_means_and_the_first_alarm_by_hand(tmp_path: Path) -> None:
    publish(tmp_path, SEEN)
    found = read_canaries(experiment(), tmp_path)
    assert found is not None
    total = found.total
    assert (total.sent, total.rewarded, total.unknown, total.first) == (5, 2, 1, 1)
    # (0.25 + 0.75 + 1 + 0.5) / 4 under two prompts.
    assert (total.reward.mean, total.reward.n, total.reward.clusters) == (0.625, 4, 2)
    assert (found.keys[":"].sent, found.keys[":"].rewarded, found.keys[":"].unknown, found.keys[":"].first) == (
        3,
        1,
        1,
        3,
    )
    assert found.keys["<b>"].first == 1
    assert found.reasons == {"known_weight (timeout)": 1}
    assert found.calls == 5
    # A likelihood ratio gives probabilities.
    assert found.threshold == 0.5
    assert found.alarm is not None
    assert "2 of 4" in found.alarm


def test_none_where_the_experiment_has_none_and_an_error_where_the_table_is_gone(tmp_path: Path) -> None:
    assert read_canaries(experiment("training.canaries=null"), tmp_path) is None
    with pytest.raises(ContractError, match="missing"):
        read_canaries(experiment(), tmp_path)


@pytest.mark.parametrize("alarmed", [True, False])
def test_the_page_and_the_summary_have_them(make_context, world, alarmed: bool) -> None:
    context = make_context(world)
    publish(context.inputs["training"], SEEN if alarmed else [seen(1, ":", 0.25), seen(2, ":", None)])
    STEP.run(dataclasses.replace(context, experiment=experiment()))
    page = (context.out / "report.html").read_text(encoding="utf-8")
    summary = json.loads((context.out / "summary.json").read_text(encoding="utf-8"))
    assert 'href="#canaries"' in page
    assert ("Canary alarm." in page) == alarmed
    section = page[page.index('<h2 id="canaries">') : page.index('<h2 id="cost">')]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in section.splitlines() if "<tr><th>" in line]
    plain = [[re.sub(r"<[^>]*>", "", cell) for cell in row] for row in cells][1:]
    if alarmed:
        assert [row[0] for row in plain] == ["&#34;:&#34;", "&#34;&lt;b&gt;&#34;", "all"]
        assert plain[2][1:4] == ["5", "▲ 2", "1"]
        assert plain[2][5:] == ["4", "1"]
    else:
        assert plain[1][1:4] == ["2", "0", "1"]
        assert plain[1][4:] == ["0.250", "1", "never"]
    assert summary["canaries"]["total"]["sent"] == (5 if alarmed else 2)
    documented = (ROOT / "components" / "report" / "SUMMARY.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in documented for key in (*summary["canaries"], *summary["canaries"]["total"]))


def test_a_run_without_them_says_nothing_of_them(written) -> None:
    assert "canar" not in (written.out / "report.html").read_text(encoding="utf-8").replace(
        "canaries: null", ""
    ).replace("training.canaries", "")
    assert "canaries" not in json.loads((written.out / "summary.json").read_text(encoding="utf-8"))


def test_none_sent_is_no_mean_and_no_alarm(tmp_path: Path) -> None:
    publish(tmp_path, [])
    found = read_canaries(experiment(), tmp_path)
    assert found is not None
    assert (found.total.sent, found.total.reward.mean, found.total.first, found.alarm) == (0, None, None, None)
