"""A key-value cache with room at its end.

transformers' own copies all that it holds for each new token, which with long prompts on a CPU takes half of the time.
"""

from typing import Any, Final

import torch
from transformers import DynamicCache, PretrainedConfig
from transformers.cache_utils import DynamicLayer

_ROOM: Final = 128
"""Places for further tokens, made each time there are none left."""


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """One layer; ``keys`` and ``values`` (rows, heads, tokens, width) are the used part of larger tensors."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self._whole: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put further tokens behind those that are there; returns all keys and all values."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        before = self.get_seq_length()
        after = before + key_states.shape[-2]
        if self._whole is None or self._whole[0].shape[-2] < after:
            self._whole = (
                _enlarged(self.keys, before, key_states, after + _ROOM),
                _enlarged(self.values, before, value_states, after + _ROOM),
            )
        keys, values = self._whole
        keys[..., before:after, :], values[..., before:after, :] = key_states, value_states
        self.keys, self.values = keys[..., :after, :], values[..., :after, :]
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows, in this order; a row may be taken more than once."""
        super().batch_select_indices(indices)
        self._whole = None


def growing_cache(config: PretrainedConfig) -> DynamicCache:
    """An empty cache; layers with an attention of their own, such as sliding windows, stay transformers'."""
    cache = DynamicCache(config=config)
    cache.layers = [GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


def _enlarged(held: torch.Tensor, tokens: int, like: torch.Tensor, places: int) -> torch.Tensor:
    whole = like.new_empty((*like.shape[:-2], places, like.shape[-1]))
    if tokens:
        whole[..., :tokens, :] = held
    return whole
