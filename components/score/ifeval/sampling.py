"""Which language a bag of n-grams is likely in: langdetect's draws and products, for all languages at once.

The order of draws and of floating-point operations is langdetect's, so the result is, too.
"""

import random
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

SEED = 0
TRIALS = 7
SMOOTHING, SMOOTHING_SPREAD, SCALE = 0.5, 0.05, 10_000
CERTAIN = 0.99999
MOST_DRAWS = 1000
BETWEEN_LOOKS = 5
LEAST = 0.1
MARGIN = 1e-6
UNKNOWN = "unknown"


class Sampler:
    """Languages and how frequent n-grams are in them.

    Args:
        languages: their codes.
        frequencies: n-gram -> its relative frequency in each language.
    """

    def __init__(self, languages: Sequence[str], frequencies: Mapping[str, Sequence[float]]) -> None:
        self._languages = languages
        self._frequencies = frequencies
        self._rows: dict[str, npt.NDArray[np.float64]] = {}

    def winner(self, ngrams: Sequence[str]) -> str:
        """The most likely language; ``unknown`` where none is a little likely.

        Each trial draws n-grams until one language is certain. Trials that cannot change the winner are left out.

        Args:
            ngrams: at least one, each known.
        """
        draw = random.Random(SEED)
        mean = np.zeros(len(self._languages))
        for trial in range(1, TRIALS + 1):
            mean += self._trial(ngrams, draw) / TRIALS
            second, first = np.partition(mean, -2)[-2:]
            if first - second > (TRIALS - trial) / TRIALS + MARGIN:
                break
        best = int(mean.argmax())
        return self._languages[best] if mean[best] > LEAST else UNKNOWN

    def _trial(self, ngrams: Sequence[str], draw: random.Random) -> npt.NDArray[np.float64]:
        likely = np.full(len(self._languages), 1 / len(self._languages))
        weight = (SMOOTHING + draw.gauss(0.0, 1.0) * SMOOTHING_SPREAD) / SCALE
        drawn = 0
        while True:
            for _ in range(BETWEEN_LOOKS if drawn else 1):
                likely *= self._row(draw.choice(ngrams)) + weight
                drawn += 1
            # The built-in sum adds up from left to right, as langdetect does; numpy's does not.
            likely /= sum(likely.tolist())
            if likely.max() > CERTAIN or drawn > MOST_DRAWS:
                return likely

    def _row(self, ngram: str) -> npt.NDArray[np.float64]:
        row = self._rows.get(ngram)
        if row is None:
            row = self._rows[ngram] = np.array(self._frequencies[ngram])
        return row
