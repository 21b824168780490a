"""What a person sees of a local run."""

import io
from pathlib import Path

from pipelines.output import StepOutput

RAW = """    [KFP Executor 2026-11-28 00:06:28,499 INFO]: Looking for component `x`
    [KFP Executor 2026-11-28 00:06:28,500 INFO]: Got executor_input:
    {
        "inputs": {
            "parameterValues": {
                "store": "file:///s"
            }
        }
    }
    [train-grpo] step 1/3  33 %
    step train-grpo failed: the trainer failed: ValueError: x
      where:  log
      remedy: mend it

--------------------------------------------------------------------------------
00:06:28.364 - ERROR - Task [96m'score'[0m finished with status [91mFAILURE[0m
training: Model( name='training',
                 uri='file:///s',
                 metadata={'a': 1} )
    store: 'file:///s'
experiment: '{"cluster": {}}'
ifeval: False
/x/kfp/local/executor.py:100: UserWarning: Task 'teardown-judge': settings ['display_name'] have no effect
  _warn_local_only_noops(task_name, task_spec, executor_spec.container)
    [teardown-judge] judge tiny-lr ended
"""


def test_only_the_steps_own_lines_are_shown_and_all_are_kept(tmp_path: Path):
    shown = io.StringIO()
    with StepOutput(shown, tmp_path / "run.log") as output:
        for piece in (RAW[:200], RAW[200:333], RAW[333:]):
            output.write(piece)
    assert shown.getvalue().splitlines() == [
        "[train-grpo] step 1/3  33 %",
        "step train-grpo failed: the trainer failed: ValueError: x",
        "  where:  log",
        "  remedy: mend it",
        "[teardown-judge] judge tiny-lr ended",
    ]
    assert (tmp_path / "run.log").read_text() == RAW


def test_a_traceback_is_shown(tmp_path: Path):
    shown = io.StringIO()
    with StepOutput(shown, tmp_path / "run.log") as output:
        output.write('    Traceback (most recent call last):\n      File "x.py", line 1\n    KeyError: 3\n')
    assert shown.getvalue().splitlines()[-1] == "KeyError: 3"


VLLM = """    INFO 11-28 04:06:53 [model.py:1725] Using max model len 2048
    WARNING 11-28 04:08:16 [utils.py:620] [shutdown] Process manager: force killing remaining processes count=1
    [W1128 04:07:18.711004260 socket.cpp:207] [c10d] The hostname of the client socket cannot be retrieved. err=-3
    (EngineCore pid=2533) INFO 11-28 04:07:20 [default_loader.py:430] Loading weights took 0.01 seconds
    (EngineCore pid=2533)\x20
    Loading safetensors checkpoint shards: 100% Completed | 1/1 [00:00<00:00, 235.89it/s]
    Capturing CUDA graphs (decode, FULL):   0%|          | 0/51 [00:00<?, ?it/s]
    (EngineCore pid=2533) ERROR 11-28 04:07:21 [core.py:999] EngineCore failed to start.
    (EngineCore pid=2533) ValueError: no memory
    [generate] base prompt 16/16  100 %  elapsed 1:37
"""


def test_vllms_errors_are_shown_and_the_rest_of_its_log_is_not(tmp_path: Path):
    shown = io.StringIO()
    with StepOutput(shown, tmp_path / "run.log") as output:
        output.write(VLLM)
    assert shown.getvalue().splitlines() == [
        "(EngineCore pid=2533) ERROR 11-28 04:07:21 [core.py:999] EngineCore failed to start.",
        "(EngineCore pid=2533) ValueError: no memory",
        "[generate] base prompt 16/16  100 %  elapsed 1:37",
    ]
