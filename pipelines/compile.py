"""Compiling the pipelines to what a cluster runs."""

from pathlib import Path


def compile_pipelines(folder: Path) -> list[Path]:
    """Write one YAML file a pipeline into ``folder``, and return the paths."""
    from kfp import compiler

    from pipelines import evaluate, judged_grpo

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, graph in ((judged_grpo.NAME, judged_grpo.judged_grpo), (evaluate.NAME, evaluate.evaluate)):
        paths.append(folder / f"{name}.yaml")
        compiler.Compiler().compile(graph, str(paths[-1]))
    return paths
