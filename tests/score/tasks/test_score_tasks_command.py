"""The command's files, in and out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.score.tasks.__main__ import main


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def score(tmp_path, dataset, lines, *more):
    given, out = write(tmp_path / "in.jsonl", lines), tmp_path / "out.jsonl"
    assert main(["--dataset", dataset, "--predictions", str(given), "--output", str(out), *more]) == 0
    *rows, last = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert list(last) == ["summary"]
    return rows, last["summary"]


def test_squad2(tmp_path):
    rows, summary = score(
        tmp_path,
        "squad2",
        [
            {"id": "a", "gold": ["Denver Broncos", "Broncos"], "prediction": "the broncos"},
            {"id": "b", "gold": ["red house"], "prediction": "house"},
            {"id": "c", "gold": [], "prediction": ""},
            {"id": 4, "gold": [], "prediction": "no answer"},
        ],
    )
    assert rows == [
        {"id": "a", "exact": 1, "f1": 1.0},
        {"id": "b", "exact": 0, "f1": pytest.approx(2 / 3)},
        {"id": "c", "exact": 1, "f1": 1.0},
        {"id": 4, "exact": 0, "f1": 0.0},
    ]
    assert summary["exact"] == 0.5
    assert summary["f1"] == pytest.approx((1 + 2 / 3 + 1) / 4)
    assert (summary["HasAns_f1"], summary["NoAns_exact"]) == (pytest.approx(5 / 6), 0.5)
    assert summary["percent"]["exact"] == 50.0
    assert (summary["n"], summary["unknown"], summary["dataset"]) == (4, 0, "squad2")
    low, high = summary["intervals"]["exact"]
    assert 0 <= low < 0.5 < high <= 1


def test_hotpotqa_without_and_with_supporting_facts(tmp_path):
    facts = [["A", 0], ["B", 1]]
    plain = {"id": "a", "gold": "yes", "prediction": "yes it is"}
    rows, summary = score(
        tmp_path, "hotpotqa", [plain, {**plain, "id": "b", "prediction": "Yes.", "supporting_facts": facts}]
    )
    assert rows == [{"id": "a", "em": 0, "f1": 0.0}, {"id": "b", "em": 1, "f1": 1.0}]
    assert (summary["em"], summary["f1"]) == (0.5, 0.5)
    assert "joint_f1" not in summary
    rows, summary = score(
        tmp_path,
        "hotpotqa",
        [
            {
                "id": "a",
                "gold": "x",
                "prediction": "x",
                "supporting_facts": facts,
                "predicted_supporting_facts": [["A", 0]],
            },
            {
                "id": "b",
                "gold": {"answer": "x", "supporting_facts": facts},
                "prediction": {"answer": "x", "supporting_facts": facts},
            },
            {"id": "c", "gold": {"answer": "x", "supporting_facts": facts}, "prediction": "x"},
        ],
    )
    # One fact of two: precision 1, recall 1/2.
    assert rows[0] == {"id": "a", "em": 1, "f1": 1.0, "sp_em": 0, "sp_f1": pytest.approx(2 / 3), "joint_em": 0} | {
        "joint_f1": pytest.approx(2 / 3)
    }
    assert (rows[1]["joint_em"], rows[2]["joint_f1"]) == (1, 0.0)
    assert summary["joint_f1"] == pytest.approx(5 / 9)


def test_gsm8k_and_math(tmp_path):
    rows, summary = score(
        tmp_path,
        "gsm8k",
        [
            {"id": 1, "gold": "She has 2 + 3 = 5.\n#### 1,005", "prediction": "so it is 1005."},
            {"id": 2, "gold": 7, "prediction": "#### 7.00"},
            {"id": 3, "gold": "7", "prediction": "no idea"},
        ],
    )
    assert rows == [{"id": 1, "correct": True}, {"id": 2, "correct": True}, {"id": 3, "correct": False}]
    assert summary["accuracy"] == pytest.approx(2 / 3)
    texts = ["1/2", r"\frac{1}{2}", "0.5", r"\boxed{\dfrac12}", r"Thus $\boxed{50\%}$", r"\(\frac{1}{2}\)", "$0.50$"]
    lines = [{"id": f"{i}.{j}", "gold": a, "prediction": b} for i, a in enumerate(texts) for j, b in enumerate(texts)]
    rows, summary = score(tmp_path, "math", lines)
    assert all(row["correct"] is True for row in rows)
    assert summary["accuracy"] == 1.0


def test_faulty_lines_are_all_told_and_nothing_is_written(tmp_path, capsys):
    good = json.dumps({"id": "a", "gold": ["x"], "prediction": "x"}).encode()
    lines = [
        good,
        b"{",
        b"[]",
        b'{"id": "b", "gold": ["x"]}',
        b'{"id": "c", "gold": "x", "prediction": "x"}',
        b'{"id": "d", "gold": [1], "prediction": "x"}',
        b'{"id": "e", "gold": ["x"], "prediction": null}',
        good,
        b'{"id": "f", "id": "f", "gold": [], "prediction": ""}',
        b'{"id": 1.5, "gold": [], "prediction": ""}',
        b"\xff",
        b"[" * 100_000,
    ]
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_bytes(b"\n".join(lines))
    out.write_text("earlier")
    assert main(["--dataset", "squad2", "--predictions", str(given), "--output", str(out)]) == 1
    told = capsys.readouterr().err
    assert "11 of 12 lines" in told
    for number in range(2, 13):
        assert f"line {number}:" in told
    assert "the id 'a' is that of line 1" in told
    assert out.read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("content", [None, b"", b"\n \n"])
def test_a_file_that_is_missing_or_empty(tmp_path, capsys, content):
    given = tmp_path / "in.jsonl"
    if content is not None:
        given.write_bytes(content)
    assert main(["--dataset", "math", "--predictions", str(given), "--output", str(tmp_path / "out")]) == 1
    assert str(given) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_output_is_not_the_input(tmp_path, capsys):
    given = write(tmp_path / "in.jsonl", [{"id": 1, "gold": "1", "prediction": "1"}])
    before = given.read_bytes()
    assert main(["--dataset", "math", "--predictions", str(given), "--output", str(given)]) == 1
    assert given.read_bytes() == before


def test_programs_with_samples(tmp_path):
    pytest.importorskip("components.tasks.code")
    gold = {"prompt": "Double it.", "test_list": ["assert double(2) == 4", "assert double(0) == 0"]}
    right, wrong = "def double(x):\n    return 2 * x\n", "def double(x):\n    return x\n"
    rows, summary = score(
        tmp_path,
        "mbpp",
        [
            {"id": 1, "gold": gold, "prediction": [right, wrong, wrong]},
            {"id": 2, "gold": gold, "prediction": f"```python\n{right}```"},
            {"id": 2, "gold": gold, "prediction": "import os; os._exit(0)"},
        ],
        "--k",
        "1",
        "2",
    )
    assert [row["correct"] for row in rows] == [True, False, False, True, False]
    assert [row.get("sample") for row in rows] == [0, 1, 2, None, 1]
    # Task 1: 1 - C(2,2)/C(3,2) = 2/3; task 2: 1.
    assert summary["pass@1"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert summary["pass@2"] == pytest.approx((2 / 3 + 1) / 2)


def test_two_runs_are_compared_row_by_row(tmp_path, capsys):
    for name, answers in (("a", "xyyyy"), ("b", "xxxxy")):
        lines = [{"id": i, "gold": ["x"], "prediction": answer} for i, answer in enumerate(answers)]
        given = write(tmp_path / f"{name}.in", lines)
        assert main(["--dataset", "squad2", "--predictions", str(given), "--output", str(tmp_path / name)]) == 0
    capsys.readouterr()
    out = tmp_path / "compared.json"
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(out)]) == 0
    found = json.loads(out.read_text())["metrics"]["exact"]
    assert (found["n"], found["base"], found["trained"], found["rose"], found["fell"]) == (5, 0.2, 0.8, 3, 0)
    # Three of three changes for the better: 2 / 2^3.
    assert found["sign_p"] == 0.25
    assert "+60.00" in capsys.readouterr().out
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "a.in")]) == 1
    assert "no summary" in capsys.readouterr().err


def test_it_is_a_command(tmp_path):
    given = write(tmp_path / "in.jsonl", [{"id": "1", "gold": "a", "prediction": "a b"}])
    out = tmp_path / "made" / "out.jsonl"
    argv = [sys.executable, "-m", "components.score.tasks", "--dataset", "hotpotqa"]
    argv += ["--predictions", str(given), "--output", str(out)]
    root = Path(__file__).parents[3]
    done = subprocess.run(argv, cwd=root, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["f1"] == 0.0
    assert out.read_text().count("\n") == 2


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    given = write(tmp_path / "in.jsonl", [{"id": 1, "gold": ["x"], "prediction": "x"}])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main(["--dataset", "squad2", "--predictions", str(given), "--output", str(pipe)]) == 0
        assert os.read(reading, 1 << 16).splitlines()[0] == b'{"id": 1, "exact": 1, "f1": 1.0}'
    finally:
        os.close(reading)
    assert pipe.is_fifo()


def test_an_output_that_cannot_be_written_is_noticed_before_scoring(tmp_path, capsys, monkeypatch):
    given = write(tmp_path / "in.jsonl", [{"id": 1, "gold": "1", "prediction": "1"}])

    def never(*_):
        raise AssertionError("it was scored")

    monkeypatch.setattr("components.score.tasks.__main__.score_lines", never)
    monkeypatch.setattr("components.score.tasks.__main__.read_lines", never)
    file = tmp_path / "file"
    file.write_text("x")
    for out, told in (
        (tmp_path / "no" / "such" / "out.jsonl", f"there is no folder {tmp_path / 'no'}"),
        (tmp_path, "--output is a folder"),
        # A file where the folder should be; one that may not be written is the same, but for root.
        (file / "out.jsonl", "cannot be written"),
        (Path("/proc/out.jsonl"), "cannot be written"),
    ):
        assert main(["--dataset", "math", "--predictions", str(given), "--output", str(out)]) == 1
        assert told in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "in.jsonl"]
    assert main(["compare", str(given), str(given), "--output", str(tmp_path / "a" / "b" / "c")]) == 1
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("gold", ["NaN", "Infinity", "1e400"])
def test_a_gold_that_is_no_number_is_refused(tmp_path, capsys, gold):
    given = tmp_path / "in.jsonl"
    given.write_text(f'{{"id": 1, "gold": {gold}, "prediction": "nan"}}\n')
    assert main(["--dataset", "math", "--predictions", str(given), "--output", str(tmp_path / "out")]) == 1
    assert "no number" in capsys.readouterr().err
