"""From the specification of the reward to the chat protocol that it names."""

from typing import TYPE_CHECKING, Final

from components.judge.protocols import pairwise, per_criterion, rubric, verif, yes_no
from components.judge.protocols.base import ChatProtocol, Sampling
from components.judge.protocols.chat_template import load_chat

if TYPE_CHECKING:
    from components.core.spec.judge import JudgeSpec
    from components.core.spec.reward import RewardSpec

_FORMS: Final = {
    form.name: form
    for form in (per_criterion.PER_CRITERION, per_criterion.VERIF_PER_CONSTRAINT, per_criterion.SEMANTIC_EQUALITY)
}


def chat_protocol(reward: "RewardSpec", judge: "JudgeSpec") -> ChatProtocol:
    """The chat protocol of ``reward.protocol``.

    Raises:
        JudgeError: the prompt template is missing, or its fields are not those of the protocol.
    """
    name = reward.protocol
    prompt = reward.prompt or name
    sampling = Sampling(judge.max_answer_tokens, judge.temperature)
    if name in _FORMS:
        form = _FORMS[name]
        return per_criterion.PerCriterion(form, load_chat(prompt, form.fields), sampling)
    if name == rubric.NAME:
        return rubric.Rubric(load_chat(prompt, rubric.FIELDS), sampling)
    if name == yes_no.NAME:
        return yes_no.YesNo(load_chat(prompt, yes_no.FIELDS, asks_again=False), sampling, reward.min_mass)
    if name == verif.NAME:
        return verif.Verif(load_chat(prompt, verif.FIELDS), sampling)
    if name == pairwise.NAME:
        return pairwise.Pairwise(load_chat(prompt, pairwise.FIELDS), sampling)
    raise ValueError(f"{name} is no chat protocol")
