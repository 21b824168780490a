"""A judge whose biases are known because they were planted: the measure of everything that measures biases."""

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """The command ``python -m components.bias scripted``, see :mod:`components.bias.scripted.cli`."""
    from components.bias.scripted import cli

    return cli.main(arguments)
