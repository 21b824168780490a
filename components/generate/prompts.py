"""From conversations to token ids, the same way for every back end."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.core.errors import StepError
from components.generate.model import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def encode_prompts(
    tokenizer: "PreTrainedTokenizerBase",
    prompts: Sequence[Sequence[Message]],
    *,
    chat_template: str | None,
    max_prompt_tokens: int,
) -> list[list[int]]:
    """Token ids of each conversation, with the opening of the assistant's turn at the end.

    Args:
        tokenizer: the policy's.
        prompts: conversations.
        chat_template: replaces the tokenizer's own template; None keeps it.
        max_prompt_tokens: most tokens that leave room for the response in the policy's context.

    Raises:
        StepError: a prompt is longer.
    """
    encoded = []
    for prompt in prompts:
        text = tokenizer.apply_chat_template(
            [dict(message) for message in prompt],
            chat_template=chat_template,
            tokenize=False,
            add_generation_prompt=True,
        )
        # The template has written the special tokens that the model expects.
        ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
        if len(ids) > max_prompt_tokens:
            raise StepError(
                f"a prompt has {len(ids)} tokens, and the context leaves room for {max_prompt_tokens}",
                where=str(prompt[-1]["content"])[:200],
                remedy="shorten the prompt, lower evaluation.max_response_tokens, or raise policy.context_tokens",
            )
        encoded.append(ids)
    return encoded
