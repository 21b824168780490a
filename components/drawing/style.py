"""The style sheet that every page carries."""

from pathlib import Path


def page_css() -> str:
    """The style sheet: light, dark and paper, from a phone's width upwards."""
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
