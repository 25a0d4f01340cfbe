"""Finding the answer in what a trainer decodes: the prompt before it, end tokens behind it."""

from __future__ import annotations

# Names of tokens that end a turn or fill a batch; `<|name|>` of any name is taken for one as well.
_ENDS = ("</s>", "<eos>", "<pad>", "[PAD]", "[EOS]", "<end_of_turn>", "<turn|>", "<end_of_utterance>")
_BRACKETS = (("<|", "|>"), ("<｜", "｜>"))
_MOST_NAME = 40  # characters between the brackets

_THINK = "<think>"


def answer_after(prompt: str, query: str) -> str:
    """What follows the prompt in the decoded text of prompt and answer.

    Some tokenizers give a prompt back with other white space than it had, so where the texts differ they are
    compared without it.

    Raises:
        ValueError: The query does not begin with the prompt.
    """
    if query.startswith(prompt):
        return query[len(prompt) :]
    end = 0
    for character in "".join(prompt.split()):
        while end < len(query) and query[end].isspace():
            end += 1
        if end == len(query) or query[end] != character:
            raise ValueError(  # without the texts: it may reach a log
                f"does not begin with the prompt (they differ at character {end} of {len(query)}), so the "
                "answer in it cannot be found: was the prompt cut at the trainer's maximal length?"
            )
        end += 1
    answer = query[end:]
    return answer.lstrip() if prompt[-1:].isspace() else answer


def without_end_tokens(text: str) -> str:
    """The text without the special tokens at its end; a text without any is left as it is."""
    end = len(text)
    while (start := _last_token(text, end)) is not None:
        end = start
    return text[:end]


def _last_token(text: str, end: int) -> int | None:
    """Where the end token begins that is the last of `text[:end]`; None where something else is.

    It looks at no more than that token: a response may consist of them.
    """
    # what stands between two end tokens is the template's
    while end > 0 and text[end - 1].isspace():
        end -= 1
    for token in _ENDS:
        if text.endswith(token, 0, end):
            return end - len(token)
    for opening, closing in _BRACKETS:
        if not text.endswith(closing, 0, end):
            continue
        start = text.rfind(opening, max(0, end - _MOST_NAME - len(opening) - len(closing)), end)
        name = text[start + len(opening) : end - len(closing)]
        if start >= 0 and name and all(c.isalnum() or c in "_-▁" for c in name):
            return start
    return None


def with_opened_thinking(prompt: str, answer: str) -> str:
    """The answer after the `<think>` that the prompt's template wrote for it, so that thinking is found."""
    return _THINK + answer if prompt.rstrip().endswith(_THINK) else answer
