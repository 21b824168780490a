"""Responses made by rules: meant to follow an instruction, to break it, or to lie at its edge. The seed decides."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

SENTENCES = (
    "The bridge was closed for repairs until late in the autumn.",
    "Dr. Moreno met Mrs. Hale at 5 p.m. on Jan. 3 near the old mill.",
    "Nobody knows why the clocks stopped, and nobody asked.",
    "Is that really what you want?",
    "What a day!",
    "She said: \"We leave at dawn.\" Then she slept.",
    "Prices rose by 3.5 percent (see Fig. 2), while wages did not.",
    "The U.S. team won; the crowd went home... slowly.",
    "I can't, won't and shouldn't explain e.g. the third rule.",
    "Visit https://example.org/page?x=1 or write to help@example.org for details.",
    "A well-known story begins in the forest by the river.",
    "NASA and the EU signed it, but GEORGE did not.",
    "My neighbour's cat sleeps on the warm stones every afternoon.",
    "First we mix flour with water; then we wait for an hour.",
    "Yes. No. Maybe!",
    "There were 12 apples, 7 pears and a single plum on the table.",
    "In the end the committee agreed on a smaller plan.",
    "'Tis the season, as they say, and we're gonna enjoy it.",
    "Wait... what?! He left?",
    "The teacher asked everyone to keep the quiet garden tidy.",
    "Music filled the hall -- loud, bright and a little out of tune.",
    "Our train reached St. Albans at noon, i.e. two hours late.",
)  # fmt: skip

LANGUAGES = {
    "ar": "هذا نص قصير باللغة العربية عن المدينة القديمة والبحر.",
    "bg": "Това е кратък текст на български език за стария град и морето.",
    "bn": "এটি পুরানো শহর এবং নদী সম্পর্কে বাংলা ভাষায় একটি ছোট লেখা।",
    "de": "Dies ist ein kurzer Text über die alte Stadt, das Meer und die Leute.",
    "es": "Este es un texto corto sobre la ciudad antigua, el mar y la gente.",
    "fa": "این یک متن کوتاه به زبان فارسی درباره شهر قدیمی و دریا است.",
    "fi": "Tämä on lyhyt teksti vanhasta kaupungista, merestä ja ihmisistä.",
    "fr": "Ceci est un court texte sur la vieille ville, la mer et les gens.",
    "gu": "આ જૂના શહેર અને નદી વિશે ગુજરાતી ભાષામાં એક નાનું લખાણ છે.",
    "hi": "यह पुराने शहर और नदी के बारे में हिंदी भाषा में एक छोटा लेख है।",
    "it": "Questo è un breve testo sulla città vecchia, il mare e la gente.",
    "kn": "ಇದು ಹಳೆಯ ನಗರ ಮತ್ತು ನದಿಯ ಬಗ್ಗೆ ಕನ್ನಡದಲ್ಲಿ ಒಂದು ಸಣ್ಣ ಬರಹ.",
    "ko": "이것은 오래된 도시와 바다에 관한 짧은 한국어 글입니다.",
    "mr": "हा जुन्या शहराबद्दल आणि नदीबद्दल मराठी भाषेतील एक छोटा लेख आहे.",
    "ne": "यो पुरानो सहर र नदीको बारेमा नेपाली भाषामा लेखिएको छोटो लेख हो।",
    "pa": "ਇਹ ਪੁਰਾਣੇ ਸ਼ਹਿਰ ਅਤੇ ਨਦੀ ਬਾਰੇ ਪੰਜਾਬੀ ਭਾਸ਼ਾ ਵਿੱਚ ਇੱਕ ਛੋਟਾ ਲੇਖ ਹੈ।",
    "pt": "Este é um pequeno texto sobre a cidade velha, o mar e as pessoas.",
    "ru": "Это короткий текст на русском языке о старом городе и море.",
    "sw": "Hii ni habari fupi kuhusu mji wa zamani, bahari na watu wake wengi.",
    "ta": "இது பழைய நகரம் மற்றும் நதி பற்றிய ஒரு சிறிய தமிழ் உரை.",
    "te": "ఇది పాత నగరం మరియు నది గురించి తెలుగు భాషలో ఒక చిన్న రచన.",
    "th": "นี่คือข้อความสั้น ๆ เกี่ยวกับเมืองเก่าและทะเลเป็นภาษาไทย",
    "ur": "یہ پرانے شہر اور سمندر کے بارے میں اردو زبان میں ایک مختصر تحریر ہے۔",
    "vi": "Đây là một đoạn văn ngắn về thành phố cổ, biển và con người.",
}

EDGES = (
    "", "   \n ", "*", "***", "******", "a******b", "******a******b******", "a****** ******b", "a******a",
    "-", "---", "- one\n- two\n- three", "* one\n* two\n\n* three", "** no **\n*yes*", "*\nfoo", "\n\n* a\n - b",
    "*a* **b** ***c*** ** ** * *", "*a\nb*", "[a] [] [[b]] [c\nd]", "[*]", "<<>>", "<< >>", "<<*>>", "<*<t>>",
    "<<a>> b >>", "intro\n<<Title>>\nrest", "P.S. bye", "p. s. bye", "P.P.S bye", "p. p. s", "P.\nS. bye", "P.*S.",
    '"', '""', '"a"', 'x\n"a"\ny', '"a" ', "“a”", "{}", "[1, 2", "```json\n{\"a\": [1]}\n```", "```JSON\n[]\n``` ",
    "```\nnull```", "Here it is:\n{}", "NaN", "123", "12 34!", "ABC", "ABC DEF. GHI!", "abc def", "ǅ", "ÀÉ À L'ÉCOLE",
    "My answer is yes.", "my answer is yes.", "*My answer is* no.", "Section 1\na\nSECTION2\nPARAGRAPH 3\nDay 4 Day5",
    "Section\n1 Section\n2", "Audience 1 Audience 2", "a ***\nb\n*** c", "***a***", "a\n\nb\n\nc", "a\n\n\n\nb",
    "\n\na\n\nb", "'\"Weekend\" is here", "weekend, it\n\n\"president's\"", "#tag #Tag ##", "!!!!!! !", "ſtory K story",
    "Dr. No. e.g. this. U.S. A. B. C.", "Hello.World", "One.\nTwo.\nThree", "... ... .", "?!?! a", "I I'M CAN'T CANNOT",
    "'TIS 'Twas GONNA Wanna gimme", "WORD-WORD A.B. \"QUOTED\" (PAREN) X,Y", "first line\nsecond, line\nthird", "a,b",
    "，、", "The end.\"", "The end.\" ", "Sure! Here it is:\n\nall small letters\n\nHope this helps, bye.",
    "lower case words only here for the test\nUpper", "UPPER CASE WORDS ONLY HERE FOR THE TEST\nlower",
    "Peace!\"\"", "Is there anything else I can help with?*", "a_b c-d e'f 1,000", "\u2028a\u2028b", "a\rb\r\nc",
)  # fmt: skip

Make = Callable[[Mapping[str, Any], str, random.Random], str]


def body(rng: random.Random, number: int | None = None, sentences: Sequence[str] = SENTENCES) -> str:
    """Some prose with markdown in it, in lines and paragraphs."""
    parts = []
    for _ in range(rng.randint(1, 20) if number is None else number):
        sentence = rng.choice(sentences)
        style = rng.random()
        if style < 0.05:
            sentence = f"*{sentence}*"
        elif style < 0.1:
            sentence = f"**{sentence.split()[0]}** {sentence}"
        elif style < 0.15:
            sentence = f"{rng.choice(['* ', '- ', '1. ', '# ', '> '])}{sentence}"
        elif style < 0.18:
            sentence = f"[{sentence.split()[-1]}] {sentence}"
        parts.append(sentence + rng.choice([" ", " ", " ", " ", "\n", "\n\n"]))
    return "".join(parts).strip()


def _repeat(rng: random.Random, unit: str, least: int, relation: str) -> str:
    wanted = least - 1 if relation == "less than" else least
    return rng.choice([" ", "\n"]).join([unit] * max(0, wanted))


def _sections(kwargs: Mapping[str, Any], text: str, rng: random.Random) -> str:
    word, number = kwargs["section_spliter"], kwargs["num_sections"]
    return "\n".join(f"{word} {place + 1}\n{text[place * 40 : place * 40 + 40]}" for place in range(number))


def _nth(kwargs: Mapping[str, Any], text: str, rng: random.Random) -> str:
    parts = [rng.choice(SENTENCES) for _ in range(kwargs["num_paragraphs"])]
    place = kwargs["nth_paragraph"] - 1
    parts[place] = f"{kwargs['first_word'].capitalize()}{rng.choice([' ', ', ', '. '])}{parts[place]}"
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    return text.replace("*", "").replace("-", "")


FOLLOW: dict[str, Make] = {
    "change_case:capital_word_frequency": lambda k, t, r: (
        t.lower() + " " + _repeat(r, "LOUD", k["capital_frequency"], k["capital_relation"])
    ),
    "change_case:english_capital": lambda k, t, r: t.upper(),
    "change_case:english_lowercase": lambda k, t, r: t.lower(),
    "combination:repeat_prompt": lambda k, t, r: k["prompt_to_repeat"] + "\n\n" + t,
    "combination:two_responses": lambda k, t, r: _plain(t) + "\n******\n" + _plain(body(r)),
    "detectable_content:number_placeholders": lambda k, t, r: t + " [name]" * k["num_placeholders"],
    "detectable_content:postscript": lambda k, t, r: f"{t}\n\n{k['postscript_marker']} Write soon.",
    "detectable_format:constrained_response": lambda k, t, r: "My answer is maybe.",
    "detectable_format:json_format": lambda k, t, r: f"```json\n{json.dumps({'text': t})}\n```",
    "detectable_format:multiple_sections": _sections,
    "detectable_format:number_bullet_lists": lambda k, t, r: _plain(t) + "\n* point" * k["num_bullets"],
    "detectable_format:number_highlighted_sections": lambda k, t, r: _plain(t) + "\n*high light*" * k["num_highlights"],
    "detectable_format:title": lambda k, t, r: f"<<A title>>\n{t}",
    "keywords:existence": lambda k, t, r: f"{t} {' '.join(k['keywords'])}",
    "keywords:forbidden_words": lambda k, t, r: t,
    "keywords:frequency": lambda k, t, r: t + " " + _repeat(r, k["keyword"].title(), k["frequency"], k["relation"]),
    "keywords:letter_frequency": lambda k, t, r: _repeat(r, k["letter"], k["let_frequency"], k["let_relation"]) + " 1",
    "language:response_language": lambda k, t, r: " ".join([LANGUAGES.get(k["language"], t)] * r.randint(1, 6)),
    "length_constraints:nth_paragraph_first_word": _nth,
    "length_constraints:number_paragraphs": lambda k, t, r: "\n***\n".join(
        _plain(body(r, 3)) for _ in range(k["num_paragraphs"])
    ),
    "length_constraints:number_sentences": lambda k, t, r: _repeat(
        r, "The river is wide.", k["num_sentences"], k["relation"]
    ),
    "length_constraints:number_words": lambda k, t, r: _repeat(r, "word", k["num_words"], k["relation"]),
    "punctuation:no_comma": lambda k, t, r: t.replace(",", ""),
    "startend:end_checker": lambda k, t, r: f"{t}\n{k['end_phrase']}{r.choice(['', '  ', chr(34)])}",
    "startend:quotation": lambda k, t, r: f'"{t}"',
}
"""Instruction id -> a response that should follow it."""

REPLACING = frozenset(
    {
        "detectable_format:constrained_response",
        "detectable_format:multiple_sections",
        "keywords:letter_frequency",
        "language:response_language",
        "length_constraints:nth_paragraph_first_word",
        "length_constraints:number_paragraphs",
        "length_constraints:number_sentences",
        "length_constraints:number_words",
    }
)
"""Instructions whose makers above leave nothing, or little, of the text that they are given."""

BREAK: dict[str, Make] = {
    "keywords:forbidden_words": lambda k, t, r: f"{t}\n{r.choice(k['forbidden_words']).upper()}!",
    "keywords:letter_frequency": lambda k, t, r: k["letter"] * (k["let_frequency"] - (k["let_relation"] == "at least")),
    "length_constraints:number_words": lambda k, t, r: " ".join(
        ["word"] * (k["num_words"] - (k["relation"] == "at least"))
    ),
    "length_constraints:number_sentences": lambda k, t, r: " ".join(
        ["The river is wide."] * (k["num_sentences"] - (k["relation"] == "at least"))
    ),
    "punctuation:no_comma": lambda k, t, r: f"Well,\n{t}",
    "language:response_language": lambda k, t, r: LANGUAGES[r.choice(sorted(LANGUAGES))],
    "change_case:english_lowercase": lambda k, t, r: f"Sure:\n{LANGUAGES[r.choice(['de', 'fr', 'it'])].lower() * 2}",
    "change_case:english_capital": lambda k, t, r: LANGUAGES[r.choice(["de", "es", "pt"])].upper() * 2,
    "combination:two_responses": lambda k, t, r: "******".join(["same"] * r.randint(1, 3)),
}
"""Instruction id -> a response that should not follow it; where there is none, prose alone is taken."""


def wrapped(text: str, rng: random.Random) -> str:
    """With what chatty models put around an answer."""
    kind = rng.randrange(6)
    if kind == 0:
        return f"Sure, here you go:\n{text}"
    if kind == 1:
        return f"{text}\nLet me know, please, if you need more."
    if kind == 2:
        return f"**Answer**\n{text}\n\nI hope this helps!"
    if kind == 3:
        return f"*{text}*"
    return text


def responses(
    kinds: list[str],
    kwargs: list[Mapping[str, Any]],
    number: int,
    rng: random.Random,
    sentences: Sequence[str] = SENTENCES,
) -> list[str]:
    """Responses to one prompt: in turn meant to follow one of its instructions, to break one, prose, and an edge."""
    made = []
    for place in range(number):
        at = rng.randrange(len(kinds))
        kind, given, text = kinds[at], kwargs[at], body(rng, None, sentences)
        turn = place % 5
        if turn in (0, 1):
            text = FOLLOW[kind](given, text, rng)
        elif turn == 2:
            text = BREAK.get(kind, lambda k, t, r: t)(given, text, rng)
        elif turn == 4:
            text = rng.choice(EDGES)
        made.append(wrapped(text, rng) if turn in (1, 2, 3) else text)
    return made


def following(
    kinds: list[str], kwargs: list[Mapping[str, Any]], rng: random.Random, sentences: Sequence[str] = SENTENCES
) -> str:
    """A response of some length meant to follow all instructions of a prompt, each made to in turn.

    Later ones can spoil earlier ones, as in real responses.
    """
    text = body(rng, rng.randint(8, 30), sentences)
    pairs = list(zip(kinds, kwargs, strict=True))
    for kind, given in sorted(pairs, key=lambda pair: pair[0] not in REPLACING):
        text = FOLLOW[kind](given, text, rng)
    return text
