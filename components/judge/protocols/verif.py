"""VerIF's soft part: one verdict over all constraints together (arXiv 2506.09942).

Every criterion of the sample gets that one verdict, so that its reward is 1 or 0 whatever the points.
"""

from typing import Final

from components.judge.calls import Ask
from components.judge.failures import Failure
from components.judge.parsing.brackets import read_brackets
from components.judge.protocols.asking import Question, heard, told, twice
from components.judge.protocols.base import Opinion, SampleError, Sampling, version_of
from components.judge.protocols.chat_template import ChatTemplate
from components.judge.protocols.quotation import fence, one_line
from components.judge.verdict import Sample

NAME: Final = "verif"
FIELDS: Final = frozenset({"question", "response", "criteria"})
_VERSION: Final = 1


class Verif:
    """See the module.

    Args:
        template: with the fields of ``FIELDS``.
        sampling: of the replies.
    """

    def __init__(self, template: ChatTemplate, sampling: Sampling) -> None:
        self._question = Question(template, sampling)
        self.version = version_of(NAME, _VERSION, template.digest)

    async def opinions(self, sample: Sample, ask: Ask) -> list[Opinion]:
        """See :class:`components.judge.protocols.base.ChatProtocol`.

        Raises:
            SampleError: a criterion has negative points; "all are kept" has no meaning for a penalty.
        """
        for criterion in sample.criteria:
            if criterion.points < 0:
                raise SampleError(
                    f"{NAME} asks whether all constraints are kept, and {criterion.text!r} is a penalty",
                    "write it as a constraint with positive points, or set reward.protocol: rubric",
                )
        opinion = await twice(lambda again: self._once(sample, ask, again=again))
        return [opinion] * len(sample.criteria)

    async def _once(self, sample: Sample, ask: Ask, *, again: bool) -> Opinion:
        values = {
            "question": fence("QUESTION", sample.question),
            "response": fence("RESPONSE", sample.response, sample.question),
            "criteria": "\n".join(
                f"{number}. {one_line(each.text)}" for number, each in enumerate(sample.criteria, start=1)
            ),
        }
        answer = await self._question.put(ask, values, again=again)
        if isinstance(answer, Failure):
            return Opinion.failed(answer)
        reading = read_brackets(answer.text, answer.finish == "length", told(sample))
        return heard(reading, answer, "all constraints")
