"""What a server says, as text for people."""

import orjson


def shown(found: object, most: int = 300) -> str:
    """One line of at most ``most`` characters; also of what is nested too deeply for Python's ``str``."""
    if not isinstance(found, str):
        try:
            # JSON text is as long as what came; ``str`` recurses as deep as the server pleases.
            found = orjson.dumps(found).decode("utf-8", "replace")
        except TypeError:
            found = "(nested too deeply to be shown)"
    return " ".join(found[:most].split())
