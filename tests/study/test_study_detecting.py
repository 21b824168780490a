"""The smallest effects that a study's probes find: of the items that their effects are means of."""

from components.bias.least import told
from components.bias.power import assumed_sd, detectable
from components.bias.probe import Request, all_probes
from components.bias.run import Part, Plan
from components.bias.types import Form, Item, Measure, Mode, Role
from components.study.detecting import detectables


def test_decided_pairs_without_a_placebo_find_no_shift() -> None:
    probe = all_probes()["polish"]
    own = tuple(probe.build(Request()))[:48]
    forms = {Role.BASE: Form("q", "good", ("c",)), Role.CHANGED: Form("q", "ornate", ("c",))}
    pairs = tuple(Item("polish", f"p{n}", f"q{n}", forms, "llmbar-Neighbor", gold=Role.BASE) for n in range(200))
    (found,) = detectables(Plan((Part(probe, Mode.BINARY, own + pairs, 0),), ()), 0.05)
    texts = len({item.text_id for item in own})
    assert (found.n_items, found.n_texts) == (48, texts)
    assert found.effect == detectable(48, texts, assumed_sd(Measure.SHIFT, Mode.BINARY), 0.05)
    (line,) = told([Part(probe, Mode.BINARY, own + pairs, 0)])
    assert f"48 items of {texts:>3} texts" in line


def test_of_the_first_place_every_pair_counts() -> None:
    probe = all_probes()["position"]
    own = tuple(probe.build(Request()))[:48]
    forms = {Role.BASE: Form("q", "good", ("c",)), Role.CHANGED: Form("q", "other", ("c",))}
    pairs = tuple(Item("position", f"p{n}", f"q{n}", forms, "llmbar-Natural", gold=Role.BASE) for n in range(100))
    (found,) = detectables(Plan((Part(probe, Mode.PAIRWISE, own + pairs, 0),), ()), 0.05)
    assert found.n_items == 148
