"""The rules, each a function from a built group to its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rubricate_service.lint.finding import Finding
from rubricate_service.lint.group import BuiltGroup
from rubricate_service.lint.rules.case import clashing_cases
from rubricate_service.lint.rules.criteria import code_would_do, two_in_one, unread_sentences
from rubricate_service.lint.rules.edges import clashing_edges, text_around_documents
from rubricate_service.lint.rules.exact import fixed_answers, one_kind_nothing_in_common
from rubricate_service.lint.rules.language import too_short_to_tell, two_languages
from rubricate_service.lint.rules.numbers import empty_ranges, impossible_letters, phrases_too_long
from rubricate_service.lint.rules.prompt import unsaid_numbers
from rubricate_service.lint.rules.responses import duplicates, no_discrimination, nothing_asked
from rubricate_service.lint.rules.words import forbidden_phrases, keywords_too_often, uncounted_words

GROUP_RULES: tuple[Callable[[BuiltGroup], Iterator[Finding]], ...] = (
    empty_ranges,
    forbidden_phrases,
    keywords_too_often,
    clashing_cases,
    two_languages,
    clashing_edges,
    text_around_documents,
    fixed_answers,
    one_kind_nothing_in_common,
    phrases_too_long,
    impossible_letters,
    uncounted_words,
    unread_sentences,
    nothing_asked,
    no_discrimination,
    duplicates,
    two_in_one,
    code_would_do,
    unsaid_numbers,
    too_short_to_tell,
)
"""What is asked about a group once it is built, in the order of the rules' ids."""
