"""Rewards that no judge decides: control arms, which show what training does without what a judge adds.

Rewards without information, or with that of the form alone, can raise benchmark figures of some models (Shao et al.
2025, arXiv 2506.10947), so that an arm with a judge is to be compared with them, not with the untrained policy alone.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from components.core.errors import ContractError
from components.judge.verdict import Criterion, Verdict
from components.reward.rubric import Reward, rubric_reward


def rule_only(
    criteria: Sequence[Criterion],
    verdicts: Sequence[Verdict],
    min_known_weight: float = 0.8,
    *,
    clip: bool = True,
    where: str = "",
) -> Reward:
    """Points of the rule lines met over the positive points of all rule lines; the judge's lines do not count.

    :func:`components.reward.rubric.rubric_reward` over these lines, with its parts; a sample with too little known
    abstains as ``rules_unknown``.

    Args:
        criteria: the rule lines of the row.
        verdicts: one a line, in the same order.
        min_known_weight: share of their positive points that must be known, in (0, 1].
        clip: whether a ratio below 0 counts as 0.
        where: the row, for error messages.

    Raises:
        ContractError: there is no rule line with positive points.
    """
    check_rule_lines(criteria, where)
    found = rubric_reward(criteria, verdicts, "binary", min_known_weight, clip=clip, where=where)
    if found.value is None:
        return Reward("abstained", None, {}, found.known_weight, "rules_unknown")
    return Reward("scored", found.value, found.parts | {"rule_lines": float(len(criteria))}, found.known_weight, None)


def check_rule_lines(criteria: Sequence[Criterion], where: str) -> None:
    """Refuse a row that combine rule_only has no number for.

    Raises:
        ContractError: none of ``criteria`` is a rule with positive points.
    """
    if not any(criterion.rule is not None and criterion.points > 0 for criterion in criteria):
        raise ContractError(
            "the row has no rule line with positive points, and reward.combine rule_only scores nothing else",
            where=where,
            remedy="leave such rows out of the data, or choose another reward.combine",
        )


def length(response: str, target: int) -> Reward:
    """min(1, words / target), words being what white space parts.

    Grows with every word up to the target and never falls: a policy that gains by it has learnt to write more, and a
    judge's reward that grows alike may pay for length.

    Args:
        response: the text.
        target: words from which on the reward is 1, at least 1.
    """
    words = len(response.split())
    return Reward("scored", min(1.0, words / target), {"words": float(words)}, 1.0, None)


def uniform(seed: int, row_id: str, step: int, index: int) -> Reward:
    """A number in [0, 1) that looks evenly drawn and is the same whenever the same sample is drawn again.

    The first 53 bits of SHA-256 over the arguments, over 2 to the 53. The attempt of the trainer is none of them, so
    that a resumed run repeats the rewards of the steps it repeats.

    Args:
        seed: of the experiment.
        row_id: of the prompt.
        step: of the trainer.
        index: of the sample among those of its prompt.
    """
    content = "\0".join(["gavel random reward", str(seed), row_id, str(step), str(index)])
    bits = int.from_bytes(hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:8]) >> 11
    return Reward("scored", bits / 2**53, {}, 1.0, None)


def format_only(response: str) -> Reward:
    """The share of :data:`FEATURES` that the response has; 0 for an empty one, which has none of them.

    What the text says plays no part. ``parts`` has each feature as 0 or 1.
    """
    text = response.strip()
    found = {name: float(bool(text) and has(text)) for name, has in FEATURES.items()}
    return Reward("scored", math.fsum(found.values()) / len(found), found, 1.0, None)


_CLOSING: Final = "\"'”’»)]}*_ "
"""Marks that may follow the end of a sentence."""

_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def _begins(text: str) -> bool:
    first = next((character for character in text if character.isalnum()), "")
    return first != "" and not first.islower()


def _ends(text: str) -> bool:
    """A code block as the last thing ends a text as well."""
    last = text.rsplit("\n", 1)[-1]
    return text.rstrip(_CLOSING)[-1:] in tuple(".!?…。！？") or ("\n" in text and _FENCE.match(last) is not None)


def _fences(text: str) -> bool:
    return _without_code(text)[1]


def _brackets(text: str) -> bool:
    """Of each kind on its own; closing ones that close nothing, as in "1)", are passed over."""
    still_open = dict.fromkeys(_PAIRS.values(), 0)
    for character in _without_code(text)[0]:
        if character in still_open:
            still_open[character] += 1
        elif character in _PAIRS:
            still_open[_PAIRS[character]] = max(0, still_open[_PAIRS[character]] - 1)
    return not any(still_open.values())


def _without_code(text: str) -> tuple[str, bool]:
    """The lines outside fenced code, and whether every fence is closed by one of its kind."""
    outside, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark is None:
            if not fence:
                outside.append(line)
        elif not fence:
            fence = mark[1]
        elif fence == mark[1]:
            fence = ""
    return "\n".join(outside), not fence


def _clean(text: str) -> bool:
    return not any(
        character == "\ufffd" or (unicodedata.category(character) == "Cc" and character not in "\t\n\r")
        for character in text
    )


FEATURES: Final[Mapping[str, Callable[[str], bool]]] = {
    "begins": _begins,
    "ends": _ends,
    "fences": _fences,
    "brackets": _brackets,
    "clean": _clean,
}
"""Marks of a well-formed text, whatever it says. ``begins``: its first letter or digit is no lower-case letter.
``ends``: its last sentence ends with . ! ? or an ellipsis (quotes, brackets and emphasis may follow), or it ends with a
code fence; a text that was cut off seldom does. ``fences``: no code fence stays open. ``brackets``: outside fenced code
no round, square or curly bracket stays open. ``clean``: it has no control character, none that could not be decoded.
"""
