"""The short cuts of IFBench's checks against the long way round, on texts made at random from hard pieces."""

from __future__ import annotations

import random
import re
import string
import time

import nltk
import pytest

from rubricate_checkers import Check, MissingData, Text, build, catalogue, evaluate
from rubricate_checkers.loose import revise
from rubricate_checkers.regex_sentences import first_sentences, regex_sentences
from rubricate_checkers.suites.ifbench import common, ends, format_marks, overlap, pronouns, verb

PIECES = (
    *(
        "a",
        "I",
        "it",
        "it.",
        "them.",
        "Them!",
        "she/her",
        "it's",
        "don't",
        "cannot",
        "gimme",
        "in't",
        "this).",
    ),
    *(
        '"',
        "'",
        '"it"',
        "'it'",
        "“",
        "”",
        "*",
        "**",
        "- ",
        "\n",
        "\n\n",
        "\t",
        "  ",
        ". ",
        "! ",
        "? ",
        "...",
        "?!",
    ),
    *(
        ",",
        ";",
        ":",
        "(",
        "[",
        "{",
        "}",
        "]",
        ")",
        "3.14",
        "14",
        "😀",
        "猫",
        "Mia",
        "Miami",
        "and",
        "So,",
        "level",
    ),
    *(
        "Mr.",
        "U.S.",
        "e.g.",
        "Ph.D.",
        "Inc.",
        "Co. It ",
        "\xa0",
        "\x1c",
        "ı",
        "Σ",
        "of",
        "The",
        "iPhone",
        "x-y",
    ),
    *(" ", " ", " ", " ", "tea", "Tea ", "tea. ", "\n* one\n  - two", "<i>a</i>", "A) b", "yes/no"),
)
# the random texts are the same in each run
RANDOM = random.Random(20251130)
TEXTS = ["".join(RANDOM.choices(PIECES, k=RANDOM.randint(1, 30))) for _ in range(1500)]
TEXTS = [text for text in TEXTS if text.strip()]

CHECKS = [
    build(entry.id, entry.example.kwargs)
    for entry in catalogue()
    if entry.suite.startswith("ifbench") and entry.id != "words:start_verb"
]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("no mark", ["no mark"]),
        ("Go! !", ["Go!", "!"]),
        ("One.\nTwo?", ["One.", "Two?"]),
        ("Dr. Ash met Mrs. Elm.", ["Dr. Ash met Mrs. Elm."]),
        ("See a.com or b.org. Bye.", ["See a.com or b.org.", "Bye."]),
        ("It is 1.2.3 now.", ["It is 1.2.", "3 now."]),
        ("Well... then", ["Well...", "then"]),
        ("A Ph.D. thesis.", ["A Ph.D. thesis."]),
        ("J. Fir came.", ["J. Fir came."]),
        ("In the U.S. He left.", ["In the U.S.", "He left."]),
        ("In the U.S. he left.", ["In the U.S. he left."]),
        ("At Oak Inc. They rest.", ["At Oak Inc", "They rest."]),
        ("At Oak Inc. nobody rests.", ["At Oak Inc. nobody rests."]),
        # the word that starts a sentence takes the space behind it with it, so the next company is missed
        ("At Oak Co. That Co. This", ["At Oak Co", "That Co. This"]),
        ('He said "go." She went.', ['He said "go".', "She went."]),
        ("He said “go.” She went.", ["He said “go”.", "She went."]),
        ('"Stop!" I ran.', ['"Stop"!', "I ran."]),
        ("By\tA. B. Elm.", ["By A. B. Elm."]),
    ],
)
def test_regex_sentences(text: str, sentences: list[str]) -> None:
    assert regex_sentences(text) == sentences


def test_first_sentences_are_those_of_the_whole_text() -> None:
    rng = random.Random(2)
    found = 0
    for _ in range(400):
        text = long_text(rng)
        first = first_sentences(text)
        assert list(first) == regex_sentences(text)[: len(first)]
        found += len(first)
    assert found > 2_000
    assert first_sentences("One. Two. Three.") == ()


def long_text(rng: random.Random) -> str:
    """Hard pieces between stretches without a full stop, of 1,000 characters or more."""
    calm = [" so it goes ", "\nand then we all went home ", " ? ", " ! ", "* in the end *"]
    pieces = [rng.choice(PIECES if rng.random() < 0.6 else calm) for _ in range(500)]
    return "".join(pieces)


CERTAIN = [
    *({"reference_text": "so it goes and then we all went", "percentage": p} for p in range(0, 61, 4)),
    {"reference_text": "so", "percentage": 3},
    {"reference_text": "*in* the* end*", "percentage": 8},
]


def test_what_may_not_hold_does_not() -> None:
    checks = [build("ratio:overlap", kwargs) for kwargs in CERTAIN]
    checks += [check for check in CHECKS if type(check).may_hold is not Check.may_hold]
    rng = random.Random(3)
    ruled_out: set[str] = set()
    for _ in range(60):
        lines = ["* Well", long_text(rng), rng.choice(["", "Why?", "* Bye! * now", "Go! * Why?"])]
        rare = rng.choice(["?", "!", "?!", ""])
        text = Text("".join(char for char in "\n".join(lines) if char not in rare or rng.random() < 0.04))
        for check in checks:
            for name in [] if check.holds(text) else text.revisions:
                if not check.may_hold(text.revised(name), text):
                    ruled_out.add(check.id)
                    assert not check.holds(text.revised(name)), name
    assert len(ruled_out) >= 6


STORY = "so it goes and then we all went home for tea and cake and a long talk by the fire"
ENDS = {
    "ratio:sentence_type": "......???",
    "ratio:sentence_balance": "....!!!!????",
    "ratio:sentence_words": "...",
}


@pytest.mark.parametrize("around", ["Sure.\n{}", "{}\nSure.", "Sure.\n{}\nSure.", "**Sure.**\n**{}**"])
@pytest.mark.parametrize("id", ENDS)
def test_a_long_response_is_rescued(id: str, around: str) -> None:
    times = 4 if len(ENDS[id]) == 3 else 1
    text = Text(around.format(" ".join(" and ".join([STORY] * times) + end for end in ENDS[id])))
    check = build(f"ifbench@2025:{id}", {})
    assert first_sentences(text.raw)
    assert not evaluate(text, check).holds
    assert evaluate(text, check, mode="loose").holds


@pytest.mark.parametrize("size", range(12))
def test_overlap_is_bounded_on_short_texts(size: int) -> None:
    """Where a character weighs most, each share that a variant has is not ruled out."""
    rng = random.Random(size)
    for _ in range(150):
        text = Text("".join(rng.choice("ab*\n") for _ in range(size)))
        for name in text.revisions:
            variant = text.revised(name)
            reference = "".join(rng.choice("ab*") for _ in range(6))
            share = overlap.Overlap(reference_text=reference, percentage=1)._share(variant)
            for percentage in () if share is None else {max(share - 2, 0), share, share + 2}:
                check = overlap.Overlap(reference_text=reference, percentage=percentage)
                assert check.may_hold(variant, text) >= check.holds(variant)


def test_the_first_token_is_tagged_as_among_the_others() -> None:
    try:
        tagger = verb._tagger()
    except MissingData as error:
        pytest.skip(str(error))
    for text in TEXTS:
        tokens = ends.first_tokens(text, 3)
        if tokens:
            assert verb._start(text) == tagger.tag(list(tokens))[0]


def test_first_and_last_tokens_are_those_of_the_whole_text() -> None:
    for text in (*TEXTS, " ".join(TEXTS[:50])):
        tokens = tuple(nltk.word_tokenize(text)) if _has_punkt() else Text(text).tokens
        assert ends.first_tokens(text, 3) == tokens[:3]
        assert ends.last_tokens(text, 3) == tokens[-3:]


def _has_punkt() -> bool:
    try:
        nltk.data.find("tokenizers/punkt_tab/english/")
    except LookupError:
        return False
    return True


def test_pronouns_are_those_among_the_tokens() -> None:
    for text in TEXTS:
        tokens = Text(text.replace("/", " ").lower()).tokens
        assert pronouns._pronouns(text) == sum(token in pronouns._PRONOUNS for token in tokens)


def test_trigrams_are_the_distinct_runs_of_three() -> None:
    for text in (*TEXTS, "", "a", "ab", "aaaa", "\U0010ffff" * 4, "\ud800ab"):
        runs = {text[i : i + 3] for i in range(len(text) - 2)}
        assert len(overlap._trigrams(text)) == len(runs)


def test_bare_takes_out_ascii_punctuation_alone() -> None:
    table = str.maketrans("", "", string.punctuation)
    for text in (*TEXTS, "\ud800,\udfff"):
        assert common.bare(text) == text.translate(table)


def test_chunks_are_those_of_split() -> None:
    for text in TEXTS:
        assert list(common.chunks(text)) == text.split()


def test_touching_quotes_are_found_as_if_whitespace_were_taken_out() -> None:
    check = build("format:quote_unquote", {})
    marks = string.digits + string.punctuation.replace('"', "")
    for text in TEXTS:
        packed = "".join(text.replace("'\"'", "").split())
        fails = '""' in packed or packed.strip(marks)[-1:] == '"'
        assert check.holds(Text(text)) is not fails


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_loose_is_any_variant(check: Check) -> None:
    passes = check.example.passes
    decorated = [
        f"Sure:\n{passes}",
        f"{passes}\nBye * now",
        f"*{passes}*",
        f"* Sure:\n{passes}\n* Bye",
        passes,
    ]
    inside = [f"{passes[:i]}*{passes[i:]}" for i in range(0, len(passes), 7)]
    for text in (*decorated, *inside, *TEXTS[:250]):
        expected = any(check.holds(Text(variant)) for variant in revise(text) if variant.strip())
        verdict = evaluate(Text(text), check, mode="loose", explain=True)
        assert verdict.holds is expected, text
        assert (verdict.variant is not None) is (expected and not check.holds(Text(text)))


HOSTILE = (
    *(mark * 40_000 for mark in "\n*(\"'.,1a_<"),
    *(unit * 10_000 for unit in ("a ", ". ", '." ', "\n* ", "[}", '" ', "a.b.", " \n", "Mr. ")),
    "Question" + "\n" * 40_000,
    "Question 1" + " " * 40_000 + "x",
    "x\n" * 10_000 + "\n" * 20_000,
    'ProductID,Category,Brand,Price,Stock\na,b,c,d,"' + "!" * 40_000,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_no_text_takes_more_than_linear_time(check: Check) -> None:
    for text in HOSTILE:
        start = time.process_time()
        evaluate(Text(text), check, explain=True)
        assert time.process_time() - start < 2, text[:20]  # a quadratic step takes a minute here


def test_without_its_weights_the_tagger_is_missing_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    verb._tagger.cache_clear()
    verb._first_tag.clear()
    with pytest.raises(MissingData, match="averaged_perceptron_tagger_eng"):
        evaluate(Text("Go on."), build("words:start_verb", {}))


def test_emoji_are_single_code_points() -> None:
    emoji = format_marks._emoji()
    assert len(emoji) == 1409
    assert {"😀", "❤", "©", "🏽"} <= emoji
    assert emoji.isdisjoint(string.printable + "\ufe0f\u200d🇦")
    assert re.fullmatch(r"[^\x00-\x7f]", min(emoji))
