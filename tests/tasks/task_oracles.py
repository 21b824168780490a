"""The metrics a second time, written from their definitions and in another way than the project's own."""

import math
import re
import string

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 .,'-$\"!?\n\t"


def squad_tokens(text):
    """Token by token: what punctuation leaves of each word, articles out (also those beside a letter of no word)."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"(?<!\w)(?:the|an|a)(?!\w)", " ", kept).split()


def squad_f1(answer, gold):
    said, wanted = squad_tokens(answer), squad_tokens(gold)
    if not said and not wanted:
        return 1.0
    left, shared = list(wanted), 0
    for token in said:
        if token in left:
            left.remove(token)
            shared += 1
    return 2 * shared / (len(said) + len(wanted))


def squad(answer, golds):
    golds = [gold for gold in golds if squad_tokens(gold)] or [""]
    return (
        max(float(squad_tokens(answer) == squad_tokens(gold)) for gold in golds),
        max(squad_f1(answer, gold) for gold in golds),
    )


def hotpot(answer, gold, facts, gold_facts):
    """(em, f1, sp_em, sp_f1, joint_em, joint_f1)."""
    said, wanted = squad_tokens(answer), squad_tokens(gold)
    left, shared = list(wanted), 0
    for token in said:
        if token in left:
            left.remove(token)
            shared += 1
    em = said == wanted
    if not em and (said in (["yes"], ["no"], ["noanswer"]) or wanted in (["yes"], ["no"], ["noanswer"])):
        shared = 0
    precision = shared / len(said) if shared else 0.0
    recall = shared / len(wanted) if shared else 0.0
    facts, gold_facts = set(map(tuple, facts)), set(map(tuple, gold_facts))
    hit = sum(fact in gold_facts for fact in facts)
    sp_precision = hit / len(facts) if facts else 0.0
    sp_recall = hit / len(gold_facts) if gold_facts else 0.0
    sp_em = not (facts ^ gold_facts)

    def mean(one, other):
        return 0.0 if one + other == 0 else 2.0 / (1.0 / one + 1.0 / other) if one * other else 0.0

    return (
        float(em),
        mean(precision, recall),
        float(sp_em),
        mean(sp_precision, sp_recall),
        float(em and sp_em),
        mean(precision * sp_precision, recall * sp_recall),
    )


def pass_at_k(n, c, k):
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def answers(generator, count):
    """Pairs of an answer and golds, as a model might give them: right, nearly right, rearranged, empty, or garbage."""
    words = [
        "the",
        "a",
        "an",
        "cat",
        "sat",
        "on",
        "mat",
        "yes",
        "no",
        "noanswer",
        "No.",
        "Yes!",
        "U.S.",
        "it's",
        "forty-two",
        "1,000",
        "Zürich",
        "naïve",
        "北京",
        "[…]",
        "THE",
    ]
    for _ in range(count):
        golds = [" ".join(generator.choices(words, k=generator.randrange(5))) for _ in range(generator.randrange(4))]
        kind = generator.randrange(6)
        base = generator.choice(golds) if golds else ""
        if kind == 0:
            answer = base
        elif kind == 1:
            answer = base.upper() + generator.choice([".", "", " the", "!"])
        elif kind == 2:
            answer = " ".join(generator.sample(base.split(), len(base.split())) + generator.choices(words, k=1))
        elif kind == 3:
            answer = ""
        elif kind == 4:
            answer = "".join(generator.choices(LETTERS, k=generator.randrange(30)))
        else:
            answer = " ".join(generator.choices(words, k=generator.randrange(6)))
        yield answer, golds
