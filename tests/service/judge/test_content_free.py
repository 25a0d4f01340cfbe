from __future__ import annotations

import pytest

from rubricate_service.judge import is_content_free

MATHS = "Find the solution of 3x = 12. Put your final answer in a box."


@pytest.mark.parametrize(
    "response",
    [
        "", " ", "\n\t", ".", ":", ",", "...", "***", "___", "—", "\u200b", "👍", "```\n```",
        "Thought process:", "thought process", "**Thought Process:**",
        "Let's solve this problem step by step.",
        "Let’s solve this problem step by step!", "Solution", "Solution:",
        "# SOLUTION\n", "解", "解:", "かいせつ", "Respuesta", "respuesta:",
    ],
)  # fmt: skip
def test_nothing_is_said(response: str) -> None:
    assert is_content_free(response, MATHS)


@pytest.mark.parametrize(
    "response",
    [
        "42",
        "Yes.",
        "x",
        "4",
        "Solution: x = 4",
        "Solution 4",
        "解: x = 4",
        "解答",
        "The solution",
        "да",
        "はい",
        "½",
        "Respuesta: 4",
    ],
)
def test_an_answer_is_judged_however_short(response: str) -> None:
    assert not is_content_free(response, MATHS)


@pytest.mark.parametrize(
    ("response", "prompt"),
    [
        ("Respuesta", "How do you say “answer” in Spanish?"),
        ("Respuesta.", "Translate into Spanish: answer"),
        ("respuesta", "¿Cómo se dice answer?"),
        ("Solution", "Give a synonym of “remedy to a problem”."),
        ("Solution", "Which English word fits: a mixture in which a salt has dissolved?"),
        ("solution", "Unscramble these letters: n o i t u l o s"),
        ("Solution:", 'Reply with exactly "Solution:" and nothing else.'),
        ("Thought process:", "Write the heading 'Thought process' and stop."),
        ("解", "“solve” 的汉字是什么?"),
        ("かいせつ", "「解説」をひらがなで書いてください。"),
        ("解", "次の「解」を書き写してください。"),
    ],
)
def test_a_phrase_that_was_asked_for_is_judged(response: str, prompt: str) -> None:
    assert not is_content_free(response, prompt)


def test_a_quote_of_something_else_does_not_excuse_a_phrase() -> None:
    assert is_content_free("Solution:", 'Solve the puzzle called "Four Lamps".')
