"""Keys and values of prompt prefixes, kept so that a shared template is computed once."""

import collections
from typing import Any, NamedTuple

import torch

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of every layer, each of shape [1, heads, tokens, head width]."""


class Batch(NamedTuple):
    """Past of a batch: a transformers cache, and how long its padded prefix is in tokens."""

    cache: Any
    length: int


class PrefixStore:
    """Least-recently-used prefixes, by their exact token ids.

    Args:
        limit: bytes of keys and values to keep at most.
    """

    def __init__(self, limit: int = 256 << 20) -> None:
        self._limit = limit
        self._kept: collections.OrderedDict[tuple[int, ...], Layers] = collections.OrderedDict()
        self._bytes = 0
        self.hits = 0
        self.misses = 0

    def __contains__(self, prefix: tuple[int, ...]) -> bool:
        return prefix in self._kept

    def get(self, prefix: tuple[int, ...]) -> Layers | None:
        """The kept layers, or None; counts as a use."""
        layers = self._kept.get(prefix)
        if layers is None:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(prefix)
        return layers

    def put(self, prefix: tuple[int, ...], layers: Layers) -> None:
        """Keep ``layers``; the longest unused ones go when the limit is passed."""
        self._bytes += _size(layers)
        self._kept[prefix] = layers
        while self._bytes > self._limit and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= _size(gone)


def join(rows: list[Layers | None]) -> Batch:
    """One cache for a batch whose rows have prefixes of different lengths: shorter ones are padded on the left.

    Args:
        rows: the layers of each row's prefix; None for a row without one. At least one row has one.
    """
    from transformers import DynamicCache

    some = next(row for row in rows if row is not None)
    length = max(row[0][0].shape[2] for row in rows if row is not None)
    cache = DynamicCache()
    for layer, (like, _) in enumerate(some):
        parts = []
        for which in (0, 1):
            whole = like.new_zeros(len(rows), like.shape[1], length, some[layer][which].shape[3])
            for number, row in enumerate(rows):
                if row is not None:
                    part = row[layer][which]
                    whole[number, :, length - part.shape[2] :] = part[0]
            parts.append(whole)
        cache.update(parts[0], parts[1], layer)
    return Batch(cache, length)


def split(cache: Any, row: int, tokens: int, start: int = 0) -> Layers:
    """``tokens`` keys and values of one row, copied.

    Args:
        cache: of a batch.
        row: which one.
        tokens: how many.
        start: padding of this row on the left.
    """
    stop = start + tokens
    return [
        (layer.keys[row : row + 1, :, start:stop].clone(), layer.values[row : row + 1, :, start:stop].clone())
        for layer in cache.layers
    ]


def _size(layers: Layers) -> int:
    return sum(part.numel() * part.element_size() for pair in layers for part in pair)
