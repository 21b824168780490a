"""Container images of the steps, one a dependency set.

A compiled pipeline must name digests; they come from the environment when the pipeline is compiled. The local runner
uses the present environment and ignores them.
"""

import os

IMAGES = ("tools", "trainer", "serving", "evaluation")


def image(name: str) -> str:
    """The image of a dependency set: ``$GAVEL_IMAGE_<NAME>``, or the name that ``make images`` gives it.

    Raises:
        KeyError: there is no such set.
    """
    if name not in IMAGES:
        raise KeyError(f"no image {name!r}; known: {', '.join(IMAGES)}")
    return os.environ.get(f"GAVEL_IMAGE_{name.upper()}", f"gavel/{name}:0.1.0")
