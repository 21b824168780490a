"""Compiling the pipelines to what a cluster runs."""

from pathlib import Path


def compile_pipelines(folder: Path) -> list[Path]:
    """Write one YAML file a pipeline into ``folder``, and return the paths."""
    from kfp import compiler

    from pipelines.judged_grpo import NAME, judged_grpo

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}.yaml"
    compiler.Compiler().compile(judged_grpo, str(path))
    return [path]
