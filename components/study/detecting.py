"""The smallest effects that a study's probes can find, told before anybody is asked."""

from components.bias.power import assumed_sd, detectable
from components.bias.result_judges import Detectable
from components.bias.run import Plan


def detectables(plan: Plan, alpha: float) -> list[Detectable]:
    """The smallest effect of each probe and mode, at the level that Holm's rule asks of the first of them.

    Args:
        plan: of one judge.
        alpha: error rate over all its probes.
    """
    found = []
    for part in plan.parts:
        items = part.counted
        texts = len({item.text_id for item in items})
        sd = assumed_sd(part.probe.measure, part.mode)
        found.append(
            Detectable(
                probe=part.probe.name,
                title=part.probe.title,
                mode=part.mode,
                n_items=len(items),
                n_texts=texts,
                sd=sd,
                effect=detectable(len(items), texts, sd, alpha / len(plan.parts)),
            )
        )
    return found
