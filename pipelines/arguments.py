"""Arguments of commands that take make's variables and an experiment's keys side by side."""

from collections.abc import Collection, Iterable


def split_arguments(arguments: Iterable[str], variables: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """What stands for a variable, by its name, and the rest, in order: overrides of the experiment.

    Args:
        arguments: each as ``KEY=VALUE``.
        variables: names of make's variables that the command knows.
    """
    given: dict[str, str] = {}
    overrides = []
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key in variables:
            given[key] = value
        else:
            overrides.append(argument)
    return given, overrides
