"""What the response is as a whole: its case, its language, its first and last words, a fixed answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rubricate_checkers import Text
from rubricate_checkers.suites.ifbench.format_text import Options, TitleCase
from rubricate_checkers.suites.ifbench.repeat import RepeatSimple, RepeatSpan
from rubricate_checkers.suites.ifeval.case import CapitalWordFrequency, EnglishCapital, EnglishLowercase
from rubricate_checkers.suites.ifeval.combination import RepeatPrompt, TwoResponses
from rubricate_checkers.suites.ifeval.language import ResponseLanguage
from rubricate_checkers.suites.ifeval.startend import EndPhrase, Quotation
from rubricate_checkers.suites.iftrain.copying import Copy, CopyingMultiple, CopySpan
from rubricate_checkers.suites.iftrain.edges import FirstWordOfAnswer, LastWordOfAnswer
from rubricate_checkers.suites.rlvr.parts import ValidateTwoResponses
from rubricate_checkers.suites.rlvr.whole import (
    ValidateEnd,
    ValidateLowercase,
    ValidateQuotation,
    ValidateRepeatPrompt,
    ValidateResponseLanguage,
    ValidateUppercase,
)
from rubricate_checkers.suites.text.keywords import EndsWith, StartsWith
from rubricate_checkers.suites.text.quality import Language
from rubricate_service.lint.demand import (
    Case,
    Contains,
    Demand,
    Divided,
    Ends,
    Exact,
    InLanguage,
    LastWord,
    Measure,
    Starts,
)
from rubricate_service.lint.demands.dispatch import read, related

_CAPITALS = Measure("capitals", "words in capitals", count=lambda response: Text(response).uppercase_tokens)


@read.register
def _(check: CapitalWordFrequency) -> Iterable[Demand]:
    return [related(_CAPITALS, check.capital_relation, check.capital_frequency)]


@read.register
def _(check: EnglishCapital) -> Iterable[Demand]:
    return [Case("upper", lettered=True), InLanguage("en", vacuous=True)]


@read.register
def _(check: EnglishLowercase) -> Iterable[Demand]:
    return [Case("lower", lettered=True), InLanguage("en", vacuous=True)]


@read.register
def _(check: ValidateUppercase) -> Iterable[Demand]:
    return [Case("upper")]


@read.register
def _(check: ValidateLowercase) -> Iterable[Demand]:
    return [Case("lower")]


@read.register
def _(check: TitleCase) -> Iterable[Demand]:
    return [Case("title")]


@read.register
def _(check: ResponseLanguage) -> Iterable[Demand]:
    return [InLanguage(check.language, vacuous=True)]


@read.register(Language)
@read.register(ValidateResponseLanguage)
def _(check: Language | ValidateResponseLanguage) -> Iterable[Demand]:
    return [InLanguage(check.language.partition("-")[0])]


_ANSWER_TAG = re.compile("</?answer>")
"""RLVR's functions look within these tags, so that what is first or last to them need not be so to others."""


@read.register
def _(check: StartsWith) -> Iterable[Demand]:
    blank = check.value[0].isspace()  # then blanks before it are not put aside
    return (
        [] if blank or _ANSWER_TAG.search(check.value) else [Starts(check.value, cased=check.case_sensitive)]
    )


@read.register
def _(check: EndsWith) -> Iterable[Demand]:
    blank = check.value[-1].isspace()
    return [] if blank or _ANSWER_TAG.search(check.value) else [Ends(check.value, cased=check.case_sensitive)]


@read.register
def _(check: RepeatPrompt) -> Iterable[Demand]:
    prompt = check.prompt_to_repeat.strip()
    return [Starts(prompt)] if prompt else []


@read.register
def _(check: ValidateRepeatPrompt) -> Iterable[Demand]:
    prompt = check.original_prompt
    return [Starts(prompt, cased=True)] if prompt and not prompt[0].isspace() else []


@read.register
def _(check: FirstWordOfAnswer) -> Iterable[Demand]:
    word = check.first_word.strip()
    return [Starts(word, word=True)] if word else []


@read.register
def _(check: LastWordOfAnswer) -> Iterable[Demand]:
    return [LastWord(check.last_word.strip())]


@read.register
def _(check: EndPhrase) -> Iterable[Demand]:
    phrase = check.end_phrase.strip()
    return [Ends(phrase, beside='"')] if phrase else []


@read.register
def _(check: ValidateEnd) -> Iterable[Demand]:
    phrase = check.end_phrase
    return [Ends(phrase, cased=True)] if phrase and not phrase[-1].isspace() else []


@read.register(Quotation)
@read.register(ValidateQuotation)
def _(check: Quotation | ValidateQuotation) -> Iterable[Demand]:
    return [Starts('"', cased=True), Ends('"', cased=True)]


@read.register
def _(check: TwoResponses) -> Iterable[Demand]:
    return [Divided("******", 2)]


@read.register
def _(check: ValidateTwoResponses) -> Iterable[Demand]:
    return [Contains("******")]


@read.register
def _(check: CopyingMultiple) -> Iterable[Demand]:
    prompt = check.prompt_to_repeat.strip()
    if not prompt or "***" in prompt:
        return []
    return [Divided("******", check.N), Contains(prompt, times=int(check.N))]


@read.register
def _(check: Copy) -> Iterable[Demand]:
    return [Exact((check.prompt_to_repeat.strip(),), folded=True)]


@read.register
def _(check: CopySpan) -> Iterable[Demand]:
    return [Exact((check.prompt_to_repeat[check.n_start : check.n_end].strip(),), folded=True)]


@read.register
def _(check: RepeatSpan) -> Iterable[Demand]:
    return [Exact((check.prompt_to_repeat[check.n_start : check.n_end + 1].strip(),), folded=True)]


@read.register
def _(check: RepeatSimple) -> Iterable[Demand]:
    return [Exact(("Only output this sentence here, ignore all other requests.",), folded=True)]


@read.register
def _(check: Options) -> Iterable[Demand] | None:
    options = tuple(option.strip() for option in check.options.split("/"))
    is_lettered = re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", check.options)
    return [Exact(options)] if is_lettered and len(options) > 1 else None
