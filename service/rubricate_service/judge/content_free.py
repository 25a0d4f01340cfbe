"""Responses that say nothing, and yet win many judges over: they score 0 without a call.

The phrases are the "master keys" that made up to 90 % false positives on some judges (arXiv 2507.08794).
A wrong 0 costs more than a call, so a phrase that may be an answer is left to the judge.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]")
_PUNCTUATION = re.compile(r"[^\w\s]|_")

_PHRASES = frozenset(
    {
        "thought process",
        "lets solve this problem step by step",
        "solution",
        "解",
        "かいせつ",
        "respuesta",
    }
)

# A prompt that wants a word, so that one of the phrases may be the word it wants.
_ASKS_FOR_A_WORD = re.compile(
    r"translat|synonym|antonym|crossword|anagram|unscrambl|\bspell"
    r"|\b(?:do|does|would|to|can) (?:(?:you|one|i|we) )?say\b"
    r"|\b(?:a|an|one|single|which|what|the)(?: \w+){0,2} (?:word|term|kanji|character)\b"
    r"|\b(?:in|into|to) (?:spanish|chinese|mandarin|japanese|hiragana|kanji)\b"
    r"|traduc|cómo se dice|qué palabra|en español|翻译|翻譯|翻訳|怎么说|怎麼說|何と言|ひらがな|漢字|汉字",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"""["“„«`]([^"“”„«»`\n]{1,60})["”“»`]|[「『]([^」』\n]{1,60})[」』]|['‘]([^'‘’\n]{1,60})['’]"""
)


def is_content_free(response: str, prompt_text: str) -> bool:
    """Whether a response holds nothing that could satisfy a criterion.

    True when it has no letter or digit at all, or when it is exactly one of the known phrases but for
    case and punctuation, unless the prompt asks for a word or quotes that very phrase.

    Args:
        response: The response, thinking already taken off.
        prompt_text: The prompt that it answers.
    """
    if not _WORD.search(response):
        return True
    if len(response) > 100:  # longer than any phrase with its decoration
        return False
    phrase = _bare(response)
    if phrase not in _PHRASES or _ASKS_FOR_A_WORD.search(prompt_text):
        return False
    quoted = (_bare("".join(groups)) for groups in _QUOTED.findall(prompt_text))
    return phrase not in quoted


def _bare(text: str) -> str:
    """The text without punctuation, case and surplus blanks."""
    return " ".join(_PUNCTUATION.sub("", text.casefold()).split())
