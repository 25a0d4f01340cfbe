"""Simplified and Traditional Chinese, as MediaWiki's conversion tables tell them apart.

A text is entirely of one kind when it has no Latin letter and converting it changes nothing. It has
some of one kind when converting it to the other changes a character: those that both share do not count.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable
from functools import cache, partial

from ...errors import MissingData
from .requirement import Requirement, Trait, Unclear

__all__ = ["parse"]

_LATIN = re.compile("[A-Za-z]")


@cache
def _converter() -> Callable[[str, str], str]:
    """`zhconv.convert`, its tables loaded; raises `MissingData` where the package is not installed."""
    with warnings.catch_warnings():
        # it looks for pkg_resources first, whose import warns, and leaves its file to the collector
        warnings.simplefilter("ignore")
        try:
            zhconv = importlib.import_module("zhconv")
        except ImportError as error:
            raise MissingData(
                "the Chinese conversion tables are not installed; pip install zhconv"
            ) from error
        zhconv.loaddict()
    convert: Callable[[str, str], str] = zhconv.convert
    return convert


def _is_entirely(raw: str, locale: str) -> bool:
    return _LATIN.search(raw) is None and _converter()(raw, locale) == raw


def _has_foreign(raw: str, locale: str) -> bool:
    """Whether converting to a locale changes any character, each taken alone."""
    convert = _converter()
    return any(convert(char, locale) != char for char in set(raw))


_TRADITIONAL = Trait(
    partial(_is_entirely, locale="zh-tw"), "Traditional Chinese only", "not Traditional Chinese only"
)
_SIMPLIFIED = Trait(
    partial(_is_entirely, locale="zh-cn"), "Simplified Chinese only", "not Simplified Chinese only"
)
_SOME_TRADITIONAL = Trait(
    partial(_has_foreign, locale="zh-cn"), "some Traditional characters", "no Traditional character"
)
_SOME_SIMPLIFIED = Trait(
    partial(_has_foreign, locale="zh-tw"), "some Simplified characters", "no Simplified character"
)


def _phrase(phrase: str) -> Trait:
    return Trait(lambda raw: phrase in raw, f'"{phrase}"', f'no "{phrase}"')


_PHRASE = re.compile('Must include the phrase "{1,2}(.+?)"{1,2}', re.IGNORECASE)

_RULES = [
    (re.compile(pattern, re.IGNORECASE), requirement)
    for pattern, requirement in (
        ('Must write the name "Shen Lim" in Simplified Chinese', _phrase("沈林")),
        ("Must (?:use|convert into|be converted into) Traditional Chinese characters", _TRADITIONAL),
        ("(?:include|use) .*?Traditional Chinese characters|使用繁體中文", _SOME_TRADITIONAL),
        ("include some content in Simplified Chinese|Use Simplified Chinese characters", _SOME_SIMPLIFIED),
        (
            "(?:must be|must use|must write|must be presented|answer must be|essential|is|should be"
            "|必须|请|需要) ?"
            "(?:in|provided in|written in|to use|conducted in|用|使用|提供|书写|翻译为|将文本翻译为) ?"
            "(?:Simplified Chinese|简体中文)|用中文简体描述",
            _SOME_SIMPLIFIED,
        ),
        ("Must translate the text into Simplified Chinese", _SIMPLIFIED),
        ("Simplified", _SOME_SIMPLIFIED),
    )
]
"""In the order in which they are tried."""


def parse(sentence: str) -> Requirement:
    """The script that a sentence asks for. One that asks for none is satisfied by no response."""
    if match := _PHRASE.search(sentence):
        return _phrase(match[1])
    return next((rule for pattern, rule in _RULES if pattern.search(sentence)), Unclear(passes=False))
