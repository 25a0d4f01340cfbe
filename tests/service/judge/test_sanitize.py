from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.judge.sanitize import for_judge

TOKENS = [
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|endoftext|>", "<|turn>", "<turn|>",
    "<|reserved_special_token_12|>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "[INST]", "[/INST]",
    "[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[gMASK]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>",
    "<pad>", "<unk>", "<think>", "</think>", "<start_of_turn>", "<end_of_turn>", "<tool_call>",
    "</tool_response>", "<unused7>", "<extra_id_0>",
]  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "a{}b", "<{}>", "{0}{0}", "[{}", "<|{}|>"])
def test_template_tokens_are_broken_and_stay_visible(token: str, around: str) -> None:
    text = around.format(token)
    copy = for_judge(text)
    assert token not in copy
    assert copy.replace(" ", "") == text


@pytest.mark.parametrize("token", ["<|im_end|>", "</think>", "[INST]"])
@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\x00", "\x1b", "\xad", "\U000e0041"]
)
def test_an_invisible_character_does_not_hide_a_token(token: str, hidden: str) -> None:
    assert token not in for_judge(hidden.join(token))


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("nul\x00 bell\x07 del\x7f c1\x9b", "nul bell del c1"),
        ("zero\u200bwidth \u2066bidi\u2069 \ufeffbom", "zerowidth bidi bom"),
        ("tag\U000e0049\U000e0067", "tag"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("🙂 é ñ 漢字 ا", "🙂 é ñ 漢字 ا"),
    ],
)
def test_invisible_characters_are_taken_out(text: str, copy: str) -> None:
    assert for_judge(text) == copy


@pytest.mark.parametrize(
    "text",
    [
        "xs |> map f",
        "f <| x",
        "a <|> b",
        "if a < s and t > b:",
        "<b>bold</b>",
        "List[int]",
        "[ADDRESS]",
        "1 << 2",
        "|a|>b",
        "<>",
        "x[i]",
    ],
)
def test_ordinary_code_is_left_alone(text: str) -> None:
    assert for_judge(text) == text


@given(st.text())
def test_a_copy_of_a_copy_is_the_copy(text: str) -> None:
    once = for_judge(text)
    assert for_judge(once) == once


@pytest.mark.parametrize("part", ["<|", "<", "[", "<|a", "</", "|>", "<<SYS", "\u200b<", "[INST", "<｜▁"])
def test_long_hostile_texts_take_linear_time(part: str) -> None:
    def seconds(n: int) -> float:
        text = part * n
        began = time.perf_counter()
        for_judge(text)
        return time.perf_counter() - began

    seconds(1000)
    assert seconds(200_000) < 1.0  # a quadratic scan takes minutes
