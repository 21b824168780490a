"""How a scripted judge decides. Every draw is a hash of seed and text, so the same question gets the same answer."""

import dataclasses
import functools
import hashlib
import math
from collections.abc import Mapping
from typing import Final

from components.bias.scripted.axes import AXES, OUTSIDE_SCORE, contentless, feature, overlap
from components.bias.types import Form
from components.core.errors import ConfigError
from components.core.scripted_axes import unplantable

STRAINED_WORDS: Final = 260
_DIGEST: Final = 8


@dataclasses.dataclass(frozen=True)
class ScriptedJudge:
    """A judge with planted biases.

    A response's score is ``quality + sight * overlap + sum(strength * feature) + noise``. A mark, a criterion and a
    choice between two are drawn so that their expected value is the score (between two: one half and the difference):
    a planted strength is the effect that a probe should find wherever scores stay within 0 and 1.

    Attributes:
        planted: axis -> strength, see :data:`components.bias.scripted.axes.AXES`. For ``position`` how much more often
            than half the first place is taken, for ``retry`` the share of contradicting pairs of repetitions (at most
            1/2), for ``failure`` the share of unreadable replies about strained responses, for ``master_keys`` the
            share of acceptance; 0 plants nothing and is allowed.
        seed: of all draws.
        quality: score of every response that says something.
        sight: what the words of the reference, or else of the criteria, add; 0 is a judge blind to quality.
        text_noise: half width of how much a planted strength differs from text to text.
        noise: half width of what is added to the score of a single response.
        strained_words: longest response that does not strain the judge, on the axis ``failure``; in words.
    """

    planted: Mapping[str, float] = dataclasses.field(default_factory=dict)
    seed: int = 0
    quality: float = 0.4
    sight: float = 0.0
    text_noise: float = 0.1
    noise: float = 0.1
    strained_words: int = STRAINED_WORDS

    def __post_init__(self) -> None:
        unknown = sorted(set(self.planted) - set(AXES))
        if unknown:
            raise ConfigError(
                f"no axis {unknown[0]!r}", where="scripted judge", remedy=f"plant some of: {', '.join(sorted(AXES))}"
            )
        for axis, strength in self.planted.items():
            why = unplantable(axis, strength) if math.isfinite(strength) else f"strength {strength} of {axis}"
            if why is not None:
                raise ConfigError(why, where="scripted judge", remedy="give another number; 0 plants nothing")

    def score(self, form: Form) -> float:
        """Expected value without noise, before it is cut to [0, 1]; 0 for a response that says nothing."""
        if contentless(form.response):
            return self.planted.get("master_keys", 0.0)
        planted = math.fsum(self.planted[axis] * feature(axis, form) for axis in self._scored)
        return self.quality + self._seen(form) + planted

    def failure_rate(self, *forms: Form) -> float:
        """Share of unreadable replies about these responses."""
        strain = max(max(feature("failure", form), float(self._is_long(form))) for form in forms)
        return min(1.0, self.planted.get("failure", 0.0) * strain)

    def place(self, form: Form, asking: int = 0) -> int | None:
        """The mark as a place on the form's scale, from 0; None where the reply is unreadable.

        Args:
            form: what is judged.
            asking: number of earlier askings of the same.
        """
        key = _key(form)
        if self._fails(key, form):
            return None
        top = len(form.scale) - 1
        exact = self._noisy(form) * top
        place = min(top, int(exact) + (self._uniform("mark", key) < exact - int(exact)))
        if self._flips(key, asking):
            return place + 1 if place < top else place - 1
        return place

    def met(self, form: Form, asking: int = 0) -> tuple[bool, ...] | None:
        """Which criteria are met; None where the reply is unreadable."""
        key = _key(form)
        if self._fails(key, form):
            return None
        score, flipped = self._noisy(form), self._flips(key, asking)
        return tuple(
            (self._uniform("criterion", str(number), key) < score) != flipped for number in range(len(form.criteria))
        )

    def first_wins(self, first: Form, second: Form, asking: int = 0) -> bool | None:
        """Whether the first of two is preferred; None where the reply is unreadable."""
        key = _key(first) + "\0" + _key(second)
        if self._fails(key, first, second):
            return None
        empty = (contentless(first.response), contentless(second.response))
        if empty[0] != empty[1]:
            accepted = self._noisy(first if empty[0] else second)
            chance = accepted if empty[0] else 1.0 - accepted
        else:
            chance = 0.5 + self.planted.get("position", 0.0) + self._noisy(first) - self._noisy(second)
        return (self._uniform("choice", key) < chance) != self._flips(key, asking)

    @functools.cached_property
    def _scored(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.planted if axis not in OUTSIDE_SCORE)

    def _is_long(self, form: Form) -> bool:
        return len(form.response.split()) > self.strained_words

    def _seen(self, form: Form) -> float:
        if not self.sight:
            return 0.0
        return self.sight * overlap(form.response, form.reference or " ".join(form.criteria))

    def _noisy(self, form: Form) -> float:
        score = self.score(form)
        if contentless(form.response):
            spread = min(self.text_noise, score, 1.0 - score)
            return score + max(0.0, spread) * self._around("text", "master_keys", form.question)
        for axis in self._scored:
            share = feature(axis, form)
            if share:
                score += self.text_noise * share * self._around("text", axis, form.question)
        score += self.noise * self._around("response", form.question, form.response)
        return min(1.0, max(0.0, score))

    def _fails(self, key: str, *forms: Form) -> bool:
        rate = self.failure_rate(*forms)
        return rate > 0.0 and self._uniform("failure", key) < rate

    def _flips(self, key: str, asking: int) -> bool:
        share = self.planted.get("retry", 0.0)
        # Of two readings, each turned with chance q, one alone is turned with chance 2 q (1 - q) = share.
        return share > 0.0 and self._uniform("retry", str(asking), key) < (1.0 - math.sqrt(1.0 - 2.0 * share)) / 2.0

    def _around(self, *parts: str) -> float:
        return 2.0 * self._uniform(*parts) - 1.0

    def _uniform(self, *parts: str) -> float:
        """A draw from [0, 1) that seed and parts decide."""
        text = "\0".join((str(self.seed), *parts))
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_DIGEST).digest()) / 2.0**64


@functools.lru_cache(maxsize=65536)
def _key(form: Form) -> str:
    shown = (form.question, form.response, *form.criteria, form.reference or "", *form.scale, form.listing)
    return "\0".join(shown)
