"""What the engine is asked and what it answers, one prompt at a time."""

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """One prompt.

    Attributes:
        ids: token ids of the prompt, at least one.
        score_from: index of the first prompt token whose log-probability is wanted; None for none at all. Token 0
            has no log-probability, because nothing comes before it.
        top: how many of the most likely tokens to report at every scored or generated position, 0 to 5.
        max_tokens: tokens to generate at most; 0 generates nothing.
        temperature: 0 takes the most likely token; above 0 samples.
        top_p: mass of the nucleus that is sampled from, in (0, 1].
        seed: makes sampling repeatable.
        stop: texts that end the generation and are cut off.
        ignore_eos: go on behind the end-of-text token.
    """

    ids: tuple[int, ...]
    score_from: int | None = None
    top: int = 0
    max_tokens: int = 0
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TokenScore:
    """Log-probability (natural log) of one token given all tokens before it, and of the likeliest ones there."""

    logprob: float
    top: tuple[tuple[int, float], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The engine's answer to a :class:`Job`.

    Attributes:
        prompt: one entry a prompt token; None where no log-probability was wanted or none exists.
        ids: generated token ids; a stop text is cut off the text, and its tokens stay.
        scores: one entry a generated token.
        text: the generated text.
        finish: ``stop`` (end token or stop text) or ``length``.
        stop_reason: the stop text that ended it, if one did.
    """

    prompt: tuple[TokenScore | None, ...]
    ids: tuple[int, ...] = ()
    scores: tuple[TokenScore, ...] = ()
    text: str = ""
    finish: str = "length"
    stop_reason: str | None = None
