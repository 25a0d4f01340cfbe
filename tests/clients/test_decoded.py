"""Where an answer begins and ends in what a trainer decodes."""

from __future__ import annotations

import time

import pytest

from rubricate_clients.decoded import answer_after, with_opened_thinking, without_end_tokens


@pytest.mark.parametrize(
    ("prompt", "query", "answer"),
    [
        ("Say a word.", "Say a word. Sun", " Sun"),
        ("Say.\n", "Say.\nSun", "Sun"),
        ("", "Sun", "Sun"),
        ("Say.", "Say.", ""),
        # a tokenizer that writes white space of its own
        ("<s>[INST] Say. [/INST]", "<s> [INST]  Say. [/INST] Sun", " Sun"),
        ("<s>[INST] Say. [/INST] ", "<s> [INST]  Say. [/INST]  Sun", "Sun"),
        (" Say.", "Say. Sun", " Sun"),
    ],
)
def test_the_answer_follows_the_prompt(prompt: str, query: str, answer: str) -> None:
    assert answer_after(prompt, query) == answer


@pytest.mark.parametrize(
    ("prompt", "query", "where"),
    [
        ("A long prompt.", "prompt. Sun", "character 0"),
        ("Say a word.", "Say a", "character 5"),
        ("a", "", "0"),
    ],
)
def test_a_query_without_its_prompt_is_an_error(prompt: str, query: str, where: str) -> None:
    with pytest.raises(ValueError, match=where):
        answer_after(prompt, query)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Sun<|im_end|>", "Sun"),
        ("Sun<|im_end|>\n<|endoftext|><|endoftext|>", "Sun"),
        ("Sun.\n<|eot_id|>", "Sun.\n"),
        ("Sun</s>", "Sun"),
        ("Sun<end_of_turn>\n", "Sun"),
        ("Sun<｜end▁of▁sentence｜>", "Sun"),
        ("<|im_end|>", ""),
        # what is no end token stays, and so does white space that belongs to the answer
        ("Sun\n", "Sun\n"),
        ("a <|b|> c", "a <|b|> c"),
        ("x<|y z|>", "x<|y z|>"),
        ("if a<|b and c|>", "if a<|b and c|>"),
        ("<||>", "<||>"),
        ("|>", "|>"),
        ("<|" + "n" * 60 + "|>", "<|" + "n" * 60 + "|>"),
    ],
)
def test_end_tokens_are_cut_at_the_end_alone(text: str, bare: str) -> None:
    assert without_end_tokens(text) == bare


def test_a_response_of_end_tokens_alone_takes_linear_time() -> None:
    """A megabyte of them took seconds, as all that was left was copied for each."""

    def seconds(count: int) -> float:
        text = "Sun" + "<|a|>" * count
        began = time.process_time()
        assert without_end_tokens(text) == "Sun"
        return time.process_time() - began

    seconds(1000)
    assert seconds(160_000) < 40 * max(0.01, seconds(10_000))  # quadratic: 256 times as long


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [("Go.<think>\n", "<think>hm</think>Sun"), ("Go.<think>\n\n</think>\n\n", "hm</think>Sun")],
)
def test_thinking_that_the_template_opens_belongs_to_the_answer(prompt: str, answer: str) -> None:
    assert with_opened_thinking(prompt, "hm</think>Sun") == answer
