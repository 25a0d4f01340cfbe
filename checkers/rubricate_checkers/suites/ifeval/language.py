"""`language:response_language`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example
from ...kwargs import Str, refuse
from ...language import rules_out
from ...text import Text

LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "de": "German", "en": "English", "es": "Spanish",
    "fa": "Persian", "fi": "Finnish", "fr": "French", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi",
    "it": "Italian", "ja": "Japanese", "kn": "Kannada", "ko": "Korean", "ml": "Malayalam", "mr": "Marathi",
    "ne": "Nepali", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "th": "Thai", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
}  # fmt: skip
"""The languages that IFEval asks for, by ISO 639-1 code."""


def _known(value: str) -> str:
    if value not in LANGUAGES:
        refuse(f"must be one of {', '.join(LANGUAGES)}, not {value!r}")
    return value


class ResponseLanguage(
    Check, id="language:response_language", aliases=("rubrichub:ResponseLanguageChecker",)
):
    """The whole response is in a language, as langdetect sees it; one without letters holds."""

    language: Annotated[Str, AfterValidator(_known)]
    example = Example(
        kwargs={"language": "de"},
        passes="Die Fähre legt jeden Morgen um acht Uhr ab und kommt mittags an.",
        fails="The ferry leaves every morning at eight and arrives at noon.",
    )

    def holds(self, text: Text) -> bool:
        return not rules_out(text.raw, self.language) and text.language in (None, self.language)

    def observed(self, text: Text) -> str:
        if rules_out(text.raw, self.language):
            return f"not {LANGUAGES[self.language]}"
        if text.language is None:
            return "no language to be seen"
        return LANGUAGES.get(text.language, text.language)

    @property
    def required(self) -> str:
        return LANGUAGES[self.language]
