"""The network: hidden states of a batch, and the vocabulary head applied only where it is asked for."""

import itertools
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from components.judge.server.batches import batches
from components.judge.server.prefixes import Batch, Layers, PrefixStore, join, split
from components.judge.server.sharing import Shared
from components.models.finite import non_finite

_HEAD_ROWS = 256
"""Positions that the head is applied to at once: 256 rows of 49,152 float32 logits are 48 MiB."""

_TOLERANCE = 1e-3
"""Largest difference of logits between the short cuts and the plain path that the start-up check lets pass."""

log = logging.getLogger(__name__)


class Model:
    """A causal language model in float32 on the CPU (bfloat16 is several times slower without AMX or AVX-512).

    Its methods are to be called under ``torch.inference_mode()``.

    Args:
        folder: a Hugging Face model folder.
        prefix_bytes: memory for kept prefixes, in bytes; 0 turns their reuse off.

    Raises:
        StepError: the model is not whole, or its weights or logits are not finite.
    """

    def __init__(self, folder: Path, *, prefix_bytes: int = 256 << 20) -> None:
        from components.models.loading import load_model

        self._model: Any = load_model(folder, torch.float32)
        config = self._model.config.get_text_config()
        self.context: int = int(config.max_position_embeddings)
        self.vocabulary: int = int(config.vocab_size)
        end = self._model.generation_config.eos_token_id
        self.ends: frozenset[int] = frozenset([end] if isinstance(end, int) else end or [])
        self.prefixes = PrefixStore(prefix_bytes)
        self.plain_head = True
        self.reuse = False
        with torch.inference_mode():
            self.plain_head, self.reuse = self._check(config, prefix_bytes, folder)

    def run(self, rows: list[tuple[int, ...]], past: list[Layers | None] | None = None) -> tuple[torch.Tensor, Any]:
        """Hidden states of right-padded ``rows``, each behind its own prefix.

        Returns:
            Hidden states [rows, longest row, width] in float32, and the transformers cache with prefix and rows.
        """
        width = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        places = torch.arange(width).expand(len(rows), -1)
        joined: Batch | None = None
        if past is not None and any(part is not None for part in past):
            joined = join(past)
            known = torch.tensor([0 if part is None else part[0][0].shape[2] for part in past])
            places = places + known[:, None]
            before = torch.arange(joined.length) >= (joined.length - known)[:, None]
            mask = torch.cat([before.long(), mask], dim=1)
        return self._forward(ids, mask, places, joined.cache if joined else None)

    def step(self, ids: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, cache: Any) -> torch.Tensor:
        """Hidden states [rows, 1, width] of one further token a row, appended to ``cache``."""
        return self._forward(ids, mask, places, cache)[0]

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, cache: Any) -> tuple[Any, Any]:
        body = self._model.base_model if self.plain_head else self._model
        extra: dict[str, Any] = {} if self.plain_head else {"output_hidden_states": True}
        out = body(
            input_ids=ids, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True, **extra
        )
        return (out.last_hidden_state if self.plain_head else out.logits), out.past_key_values

    def log_probs(self, hidden: torch.Tensor, targets: torch.Tensor, top: int) -> tuple[torch.Tensor, Any]:
        """Log-probabilities at chosen positions.

        Args:
            hidden: [positions, width].
            targets: [positions], the token whose log-probability is wanted.
            top: number of likeliest tokens to report.

        Returns:
            [positions] log-probabilities, and (values, indices) of shape [positions, top] or None.
        """
        found, best = [], []
        for start in range(0, len(hidden), _HEAD_ROWS):
            logits = self.logits(hidden[start : start + _HEAD_ROWS])
            scale = torch.logsumexp(logits, dim=-1)
            found.append(logits.gather(1, targets[start : start + _HEAD_ROWS, None])[:, 0] - scale)
            if top:
                values, indices = logits.topk(top, dim=-1)
                best.append((values - scale[:, None], indices))
        tops = (torch.cat([v for v, _ in best]), torch.cat([i for _, i in best])) if best else None
        return torch.cat(found), tops

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Float32 logits [positions, vocabulary] of ``hidden`` [positions, width]."""
        return self._model.get_output_embeddings()(hidden).float() if self.plain_head else hidden

    def keep_prefixes(self, wanted: list[tuple[int, ...]], tokens: int) -> None:
        """Compute and keep every prefix of ``wanted`` that is not kept yet, at most ``tokens`` in one pass."""
        self.keep_shared([Shared(prefix, parent=0, level=0) for prefix in set(wanted) if prefix], tokens)

    def keep_shared(self, shared: Sequence[Shared], tokens: int) -> None:
        """Compute and keep beginnings of prompts, the longer ones out of the shorter ones that they begin with.

        Args:
            shared: shorter ones first.
            tokens: of one pass at most.
        """
        missing = [each for each in shared if each.ids not in self.prefixes]
        for _, level in itertools.groupby(sorted(missing, key=lambda each: each.level), lambda each: each.level):
            ordered = sorted(level, key=lambda each: len(each.ids) - each.parent)
            for part in batches(ordered, lambda each: len(each.ids) - each.parent, rows=len(ordered), tokens=tokens):
                self._keep(part)

    def _keep(self, part: Sequence[Shared]) -> None:
        past = [self.prefixes.get(each.ids[: each.parent]) if each.parent else None for each in part]
        known = [0 if layers is None else each.parent for each, layers in zip(part, past, strict=True)]
        _, cache = self.run([each.ids[skip:] for each, skip in zip(part, known, strict=True)], past)
        for number, (each, skip) in enumerate(zip(part, known, strict=True)):
            self.prefixes.put(each.ids, split(cache, number, len(each.ids), start=max(known) - skip))

    def _check(self, config: Any, prefix_bytes: int, folder: Path) -> tuple[bool, bool]:
        """Whether head and prefix short cuts give this model's own logits; some architectures scale or window."""
        probe = tuple(index % self.vocabulary for index in range(3, 15))
        self.plain_head = False
        truth = self.run([probe])[0][0]
        if not bool(torch.isfinite(truth).all()):
            raise non_finite(folder)
        self.plain_head = True
        head = bool((self.logits(self.run([probe])[0][0]) - truth).abs().max() < _TOLERANCE)
        self.plain_head = head
        kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
        if not prefix_bytes or kinds != {"full_attention"}:
            return head, False
        _, cache = self.run([probe[:5]])
        try:
            past = split(cache, 0, 5)
            rest = self.run([probe[5:], probe[:7]], [past, None])[0]
        except (AttributeError, TypeError, RuntimeError) as error:
            log.warning("prefixes are not reused with this architecture: %s", error)
            return head, False
        reuse = bool((self.logits(rest[0]) - truth[5:]).abs().max() < _TOLERANCE)
        return head, reuse
