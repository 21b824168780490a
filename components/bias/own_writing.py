"""Items on a preference for one's own: responses of the judge's model, or of its kin, beside equally good ones."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from components.bias.changes import paraphrase
from components.bias.mounted import DataSet, Mounted
from components.bias.probe import Skip
from components.bias.readers.written import Request, Written, requests
from components.bias.types import Form, Item, Role

DECIDED: Final = "decided responses"
"""Source of the items whose better response is known."""
Own = Callable[[Written], bool]


def own_items(probe: str, seed: int, mounted: Mounted, own: Own, other: Own, whose: str) -> Sequence[Item] | Skip:
    """One item for each pair of an own and another's response that are held to be equally good.

    The base is the other's, the changed form is the own one, and the placebo is the other's again, paraphrased by
    rules: what is left between the two is the preference for the author, since both are as good as the base. Pairs of
    which one is better have no placebo: they tell whether the better one wins as often where it is the judge's own
    (:mod:`components.bias.opportunity`), and add nothing to the shift.

    Args:
        probe: its name.
        seed: of the paraphrase.
        mounted: the user's folder.
        own: tells the responses of the judge's own.
        other: tells those of others.
        whose: for the reason where there are none.
    """
    if not mounted.files(DataSet.RESPONSES):
        return Skip("it takes responses that models wrote, and no responses*.jsonl is mounted (docs/probes.md)")
    found, decided = [], []
    for request in requests(mounted):
        mine = [each for each in request.responses if own(each)]
        theirs = [each for each in request.responses if other(each)]
        for place, one in enumerate(mine):
            for rank, two in enumerate(theirs):
                name = f"{request.text_id}.{place}.{rank}"
                if one.quality == two.quality:
                    found.append(_item(probe, seed, request, one, two, name))
                else:
                    decided.append(_decided(probe, request, one, two, name))
    if not found:
        return Skip(f"no response of {whose} is held to be as good as another's in what is mounted")
    return [*found, *decided]


def _decided(probe: str, request: Request, own: Written, other: Written, name: str) -> Item:
    forms = {
        Role.BASE: Form(request.question, other.text, request.criteria),
        Role.CHANGED: Form(request.question, own.text, request.criteria),
    }
    better = Role.CHANGED if own.quality > other.quality else Role.BASE
    return Item(probe, f"{name}.decided", request.text_id, forms, DECIDED, author=own.family, gold=better)


def _item(probe: str, seed: int, request: Request, own: Written, other: Written, item_id: str) -> Item:
    draw = random.Random(f"{seed}/{probe}/{item_id}")

    def form(response: str) -> Form:
        return Form(request.question, response, request.criteria)

    forms = {
        Role.BASE: form(other.text),
        Role.CHANGED: form(own.text),
        Role.PLACEBO: form(paraphrase(other.text, draw)),
    }
    return Item(probe, item_id, request.text_id, forms, "responses", author=own.family)
