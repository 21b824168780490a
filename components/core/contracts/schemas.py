"""The schemas. A column that may be unknown is nullable, and null never stands for a value."""

import pyarrow as pa


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


_MESSAGE = pa.struct([_required("role", pa.string()), _required("content", pa.string())])

PROMPTS = pa.schema(
    [
        _required("prompt", pa.list_(_MESSAGE)),
        _required("data_source", pa.string()),
        _required("ability", pa.string()),
        _required(
            "reward_model",
            pa.struct([_required("style", pa.string()), _required("ground_truth", pa.string())]),
        ),
        _required(
            "extra_info",
            pa.struct(
                [
                    _required("id", pa.string()),
                    _required("index", pa.int64()),
                    _required("split", pa.string()),
                    _required("question", pa.string()),
                    _required("rubric", pa.string()),
                    _required("template", pa.string()),
                ]
            ),
        ),
    ]
)
"""verl's columns. ``rubric`` is a JSON list of criteria; ``ground_truth`` a JSON object with the gold checks, which
the judge never sees, or ``null`` for a row without any; ``template`` names the form the prompt was made from, so
that splits can be checked."""

ROLLOUTS = pa.schema(
    [
        _required("step", pa.int32()),
        _required("row_id", pa.string()),
        _required("sample_id", pa.string()),
        _required("sample_index", pa.int32()),
        _required("question", pa.string()),
        _required("response", pa.string()),
        _required("response_tokens", pa.int32()),
        _required("finished", pa.bool_()),
        _required("status", pa.string()),
        pa.field("reward", pa.float64()),
        pa.field("reason", pa.string()),
        _required("known_weight", pa.float64()),
        _required("parts", pa.string()),
        _required("attempt", pa.int32()),
    ]
)
"""One response that the trainer sampled. ``status`` is scored or abstained; ``reward`` is null exactly when abstained.
``attempt`` counts starts of the trainer: after a resume, rows of repeated steps carry a higher one."""

CANARIES = pa.schema(
    [
        _required("step", pa.int32()),
        _required("attempt", pa.int32()),
        _required("sample_id", pa.string()),
        _required("row_id", pa.string()),
        _required("key", pa.string()),
        pa.field("reward", pa.float64()),
        _required("threshold", pa.float64()),
        _required("known_weight", pa.float64()),
        pa.field("reason", pa.string()),
    ]
)
"""One response without content (``key``) that the judge of a training was shown under the prompt ``row_id``, by the
reward that trains the policy; nothing was trained on it. ``reward`` is null exactly where it could not be judged, and
then ``reason`` says why; above ``threshold`` it is an alarm. ``sample_id`` is that of its calls and verdicts."""

VERDICTS = pa.schema(
    [
        _required("sample_id", pa.string()),
        _required("row_id", pa.string()),
        _required("criterion", pa.string()),
        _required("criterion_index", pa.int32()),
        _required("status", pa.string()),
        pa.field("probability", pa.float64()),
        pa.field("log_ratio", pa.float64()),
        pa.field("reason", pa.string()),
        _required("judge", pa.string()),
        _required("protocol", pa.string()),
        _required("attempts", pa.int32()),
        _required("seconds", pa.float64()),
        _required("prompt_tokens", pa.int64()),
        _required("response_chars", pa.int32()),
        pa.field("raw_id", pa.string()),
        _required("time", pa.float64()),
        pa.field("mass", pa.float64()),
        pa.field("explanation", pa.string()),
    ]
)
"""One verdict. ``seconds`` is the wall time of its calls, ``time`` the Unix time of the answer; ``mass`` is the
probability that the judge gave to yes and no together, where the protocol reads it."""

CALLS = pa.schema(
    [
        _required("time", pa.float64()),
        _required("judge", pa.string()),
        _required("protocol", pa.string()),
        _required("purpose", pa.string()),
        _required("prompt_hash", pa.string()),
        _required("attempts", pa.int32()),
        _required("seconds", pa.float64()),
        pa.field("key", pa.int32()),
        pa.field("endpoint", pa.int32()),
        _required("prompt_tokens", pa.int64()),
        _required("completion_tokens", pa.int64()),
        _required("cached_tokens", pa.int64()),
        pa.field("cost", pa.float64()),
        pa.field("currency", pa.string()),
        pa.field("finish", pa.string()),
        pa.field("reason", pa.string()),
        _required("from_cache", pa.bool_()),
        _required("reply_chars", pa.int64()),
        pa.field("raw_id", pa.string()),
        pa.field("sample_id", pa.string()),
        pa.field("response_chars", pa.int64()),
    ]
)
"""One question put to a judge, with all its repetitions, whether it led to a verdict or not. ``time`` is the Unix time
of its end, ``key`` the index of the API key and never the key; ``cost`` is by the price table, in ``currency``."""

METRICS = pa.schema(
    [
        _required("step", pa.int32()),
        _required("name", pa.string()),
        _required("value", pa.float64()),
    ]
)
"""The trainer's own metrics in long form, one number a row."""

GENERATIONS = pa.schema(
    [
        _required("model", pa.string()),
        _required("row_id", pa.string()),
        _required("split", pa.string()),
        _required("question", pa.string()),
        _required("responses", pa.list_(pa.string())),
        _required("finished", pa.list_(pa.bool_())),
        _required("response_tokens", pa.list_(pa.int32())),
    ]
)
"""Responses of one model to one prompt; the three lists have one entry a sample."""

SCORES = pa.schema(
    [
        _required("model", pa.string()),
        _required("step", pa.int32()),
        _required("row_id", pa.string()),
        _required("sample_id", pa.string()),
        _required("sample_index", pa.int32()),
        _required("status", pa.string()),
        pa.field("judge_reward", pa.float64()),
        pa.field("gold", pa.bool_()),
        pa.field("keyword", pa.bool_()),
        pa.field("echo", pa.bool_()),
        pa.field("length_ok", pa.bool_()),
        _required("words", pa.int32()),
        _required("gold_detail", pa.string()),
    ]
)
"""One scored response. ``gold`` is keyword and not echo and length_ok, by rules that the judge does not see; each of
them is null where nothing of the kind was checked, all four for a row without hidden checks.
``step`` is the training step for rollouts (``model`` = "rollout") and -1 for held-out generations."""

TASK_SCORES = pa.schema(
    [
        _required("model", pa.string()),
        _required("dataset", pa.string()),
        _required("domain", pa.string()),
        _required("row_id", pa.string()),
        _required("sample_index", pa.int32()),
        pa.field("correct", pa.bool_()),
        pa.field("exact", pa.float64()),
        pa.field("f1", pa.float64()),
        pa.field("answer", pa.string()),
        _required("detail", pa.string()),
        _required("parts", pa.string()),
    ]
)
"""One answer to a task, by the official metric of its set. ``correct`` is null where the check itself could not be run;
``exact`` and ``f1`` also where the set has no such metric. ``answer`` is what was read out of the response, null where
nothing was; ``parts`` a JSON object of further figures, such as those of supporting facts."""

WORKFLOWS = pa.schema(
    [
        _required("model", pa.string()),
        _required("step", pa.int32()),
        _required("sample_id", pa.string()),
        _required("row_id", pa.string()),
        _required("sample_index", pa.int32()),
        _required("domain", pa.string()),
        _required("dataset", pa.string()),
        pa.field("source", pa.string()),
        pa.field("form", pa.string()),
        _required("status", pa.string()),
        pa.field("reason", pa.string()),
        _required("detail", pa.string()),
        pa.field("answer", pa.string()),
        pa.field("gold", pa.float64()),
        pa.field("score", pa.float64()),
        pa.field("right", pa.bool_()),
        pa.field("reward", pa.float64()),
        _required("parts", pa.string()),
        _required("calls", pa.int32()),
        _required("replies", pa.int32()),
        _required("prompt_tokens", pa.int64()),
        _required("completion_tokens", pa.int64()),
        _required("tokens", pa.int64()),
        _required("seconds", pa.float64()),
        pa.field("money", pa.float64()),
        _required("wall_seconds", pa.float64()),
        _required("executor", pa.string()),
        _required("trace", pa.string()),
    ]
)
"""What became of one response that should be a workflow. ``model`` and ``step`` are as in SCORES; ``source`` is the
hash of the program, null where there is none. ``status`` is answered, invalid, failed or abstained. ``reason`` is null
exactly when the answer got a reward by its score: else it is why there is none (of the executor model, of the judge or
of the check), or ``invalid:...`` and ``failed:...``, whose ``reward`` is the scale's lowest value. ``reward`` is null
where nothing is known. ``gold`` is the official metric's score of the answer and ``score`` the one that counts; null
where nothing was answered, or it is not known. ``calls`` are those of operators, ``replies`` those of the executor
model; tokens, seconds and money are what these took. ``trace`` is a JSON list of the calls, long texts cut."""
