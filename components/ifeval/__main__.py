"""``python -m components.ifeval``: IFEval of a model, a trainer's checkpoint, or responses that are there already."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError, GavelError
from components.core.manifest import sha256_file
from components.generate.engine import Engine
from components.generate.sampling import Sampling
from components.ifeval.origin import ORIGIN, first_prompts, refuse_other
from components.score.ifeval.output import table, write
from components.score.ifeval.prompts import read_prompts
from components.score.ifeval.score import score_files

_WORK = ".work"


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate where that is needed, score, write, print; the exit status is 1 when something is wrong."""
    options = _parser().parse_args(arguments)
    try:
        print(run(options))
    except GavelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def run(options: argparse.Namespace) -> str:
    """Do what ``options`` say; gives the table of figures.

    Raises:
        GavelError: the options contradict each other, a file or model is not what is needed, or a merge failed.
    """
    _check(options)
    # Mistakes in the file of prompts are told before anything is generated for it.
    read_prompts(options.prompts)
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    prompts = (
        options.prompts if options.limit is None else first_prompts(options.prompts, options.limit, output / _WORK)
    )
    responses = options.responses
    if responses is None:
        origin, content = _generate(options, prompts, output)
        responses = output / "responses.jsonl"
        responses.write_bytes(content)
    else:
        origin = _origin(options, {"responses": str(responses)})
        refuse_other(output, origin)
    scored, summary = score_files(prompts, responses, corrected=options.corrected, allow_missing=options.allow_missing)
    write(output, scored, {**summary, ORIGIN: origin})
    return f"{table(summary)}\n\nresults: {output}"


def _check(options: argparse.Namespace) -> None:
    for name in ("prompts", "output"):
        if getattr(options, name) is None:
            raise ConfigError(
                f"{name.upper()}= (--{name}) is missing",
                where="ifeval",
                remedy="make ifeval MODEL=... PROMPTS=input_data.jsonl OUTPUT=FOLDER",
            )
    if options.limit is not None and options.responses is not None:
        raise ConfigError(
            "LIMIT (--limit) shortens what is generated, and RESPONSES (--responses) are there already",
            where="ifeval",
            remedy="leave it out, and give PROMPTS with the prompts that were answered",
        )
    named = [name for name in ("model", "checkpoint", "responses") if getattr(options, name) is not None]
    if len(named) != 1:
        listed = " and ".join(f"{name.upper()} (--{name})" for name in named)
        raise ConfigError(
            f"{listed} are given, and one of them is wanted" if named else "nothing is given that could be scored",
            where="ifeval",
            remedy="give one of MODEL (--model), CHECKPOINT (--checkpoint) or RESPONSES (--responses)",
        )
    if options.merge_target is not None and options.checkpoint is None:
        raise ConfigError(
            "MERGE_TARGET (--merge-target) keeps a merged checkpoint, and none is given",
            where=str(options.merge_target),
            remedy="give CHECKPOINT (--checkpoint), or leave it out",
        )
    if options.temperature == 0 and options.samples > 1:
        raise ConfigError(
            f"{options.samples} samples at temperature 0 are all the same",
            where="SAMPLES (--samples)",
            remedy="set it to 1, or give a TEMPERATURE (--temperature) above 0",
        )


def _origin(options: argparse.Namespace, more: Mapping[str, object]) -> dict[str, object]:
    """What the responses are of, for summary.json."""
    return {
        **more,
        "prompts": str(options.prompts),
        "prompts_sha256": sha256_file(options.prompts),
        "limit": options.limit,
        "corrected": options.corrected,
    }


def _generate(options: argparse.Namespace, prompts: Path, output: Path) -> tuple[dict[str, object], bytes]:
    from components.ifeval.generation import longest_context, model_folder, respond, weights_sha256

    if options.checkpoint is not None:
        from components.checkpoint.merged_copy import merge_to

        folder = options.merge_target or output / _WORK / "model"
        merge_to(options.checkpoint, folder, options.dtype)
    else:
        folder = model_folder(options.model)
    backend: Literal["hf", "vllm"] = options.backend or _usual_backend()
    engine = Engine(
        backend=backend,
        dtype=options.dtype,
        context_tokens=options.context or longest_context(folder, options.max_tokens),
        batch=options.batch or (16 if backend == "hf" else None),
        threads=options.threads,
        tensor_parallel=options.tensor_parallel,
        gpu_memory_share=options.gpu_memory,
        seed=options.seed,
        chat_template=None if options.chat_template is None else options.chat_template.read_text(encoding="utf-8"),
    )
    sampling = Sampling(
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        samples=options.samples,
        seed=options.seed,
        top_p=options.top_p,
        top_k=options.top_k,
    )
    origin = _origin(
        options,
        {
            "model": options.model or options.checkpoint,
            "model_sha256": weights_sha256(folder),
            "backend": backend,
            "dtype": engine.dtype,
            "context_tokens": engine.context_tokens,
            **dataclasses.asdict(sampling),
            "system_prompt": options.system_prompt,
            "chat_template": None if options.chat_template is None else sha256_file(options.chat_template),
        },
    )
    refuse_other(output, origin)
    work = output / _WORK
    return origin, respond(folder, prompts, engine, sampling, system_prompt=options.system_prompt, work=work)


def _usual_backend() -> Literal["hf", "vllm"]:
    import torch

    return "vllm" if torch.cuda.is_available() else "hf"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m components.ifeval",
        description="IFEval of a model, of a trainer's checkpoint (which is merged first), or of responses that are "
        "there already. A killed run goes on where it was.",
        epilog="Written into --output: responses.jsonl, eval_results_strict.jsonl, eval_results_loose.jsonl and "
        "summary.json. With make, each option is a variable: make ifeval MODEL=... PROMPTS=... MAX_TOKENS=1280.",
    )
    what = parser.add_argument_group("what is scored (one of these)")
    what.add_argument("--model", help="a Hugging Face folder, or a repository of the hub")
    what.add_argument("--checkpoint", help=".../global_step_N, .../actor or a published training; a path or s3:// URL")
    what.add_argument("--responses", type=Path, help='JSONL with {"prompt" or "key", "response"}: nothing is generated')
    files = parser.add_argument_group("files")
    files.add_argument("--prompts", type=_path, required=True, help="IFEval's input_data.jsonl, or rows of that form")
    files.add_argument("--output", type=_path, required=True, help="folder for the results; made when missing")
    files.add_argument("--merge-target", type=Path, metavar="FOLDER", help="keeps the merged checkpoint there")
    files.add_argument("--corrected", action="store_true", help="mend four rows of the official data; not comparable")
    files.add_argument("--allow-missing", action="store_true", help="count prompts without a response as not answered")
    knobs = parser.add_argument_group("generation")
    knobs.add_argument("--backend", choices=("hf", "vllm"), help="default: vllm where there is a GPU, else hf")
    knobs.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32", help="of weights (float32)")
    knobs.add_argument("--max-tokens", type=_count, default=1280, help="longest response (1280)")
    knobs.add_argument("--context", type=_count, help="prompt and response together (default: what the model has)")
    knobs.add_argument("--temperature", type=float, default=0.0, help="0 takes the likeliest token (0)")
    knobs.add_argument("--top-p", type=float, default=1.0, help="probability mass that sampling keeps (1)")
    knobs.add_argument("--top-k", type=int, default=-1, help="likeliest tokens that sampling keeps; -1: all (-1)")
    knobs.add_argument("--samples", type=_count, default=1, help="responses for each prompt (1)")
    knobs.add_argument("--batch", type=_count, help="prompts generated together (hf: 16; vllm chooses)")
    knobs.add_argument("--tensor-parallel", type=_count, default=1, help="GPUs for one copy of the model (1)")
    knobs.add_argument("--gpu-memory", type=_share, default=0.9, help="share of each GPU's memory for vllm (0.9)")
    knobs.add_argument("--threads", type=_count, default=2, help="threads that compute, for hf (2)")
    knobs.add_argument("--limit", type=_count, help="only the first prompts of the file, this many (all)")
    knobs.add_argument("--seed", type=int, default=0, help="of the sampling (0)")
    knobs.add_argument("--system-prompt", help="goes before each prompt")
    knobs.add_argument("--chat-template", type=Path, metavar="FILE", help="in place of the model's own")
    return parser


def _path(text: str) -> Path | None:
    """None for an empty one, which make gives where its variable is not set; it must not mean the current folder."""
    return Path(text) if text.strip() else None


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{value} is no share between 0 and 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
