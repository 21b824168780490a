"""Regular expressions that a file of prompts brings along: keywords, section words and markers are such, as published.

A repetition inside a repetition can take longer than anybody waits, and the standard library's matching cannot be given
a limit. Another engine could, but takes other characters for letters and white space, so that figures would not
compare. So patterns with repetitions are matched by the standard library in a process of its own, which is ended when
it is late.
"""

import json
import re
import subprocess
import sys
from typing import Final, Literal

SECONDS: Final = 10.0
"""For one text and pattern, the start of the process included."""

_REPEATS: Final = re.compile(r"[*+{]")
_CHOOSES: Final = re.compile(r"[?|]")
_CHOICES: Final = 8
"""Ways to go from a place of a text double with each at most: these are few enough to be tried."""

_CHILD: Final = """
import json, re, sys
pattern, flags, text = json.load(sys.stdin)
found = re.compile(pattern, flags)
print(len(found.split(text)) - 1 if sys.argv[1] == "splits" else len(found.findall(text)) if sys.argv[1] == "count"
      else int(found.search(text) is not None))
"""

Work = Literal["occurs", "count", "splits"]


class Pattern:
    """A pattern with a limit of time.

    Args:
        word: as it stands in the file.
        form: what is matched, ``{}`` being the word.
        flags: of :mod:`re`.

    Raises:
        re.error: it is no regular expression.
    """

    def __init__(self, word: str, form: str = "{}", flags: re.RegexFlag = re.RegexFlag.NOFLAG) -> None:
        try:
            self._pattern = re.compile(form.replace("{}", word), flags)
        except (RecursionError, OverflowError) as error:
            raise re.error(f"too large: {error}") from error
        self._apart = _REPEATS.search(word) is not None or len(_CHOOSES.findall(word)) > _CHOICES

    def occurs(self, text: str) -> bool:
        """Whether it is found.

        Raises:
            TimeoutError: not within :data:`SECONDS`; so the other methods.
        """
        return bool(self._by_child("occurs", text)) if self._apart else self._pattern.search(text) is not None

    def count(self, text: str) -> int:
        """How often it is found, without overlap."""
        return self._by_child("count", text) if self._apart else len(self._pattern.findall(text))

    def splits(self, text: str) -> int:
        """By how many pieces a text is more when it is split there; what groups matched are pieces, as published."""
        return self._by_child("splits", text) if self._apart else len(self._pattern.split(text)) - 1

    def _by_child(self, work: Work, text: str) -> int:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", _CHILD, work],
                input=json.dumps([self._pattern.pattern, int(self._pattern.flags), text]),
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{self._pattern.pattern!r} took more than {SECONDS:g} s") from error
        if done.returncode:
            raise TimeoutError(f"{self._pattern.pattern!r}: {done.stderr.strip()[-200:]}")
        return int(done.stdout)
