"""The judge's copy of untrusted text: nothing invisible in it, and nothing a chat template understands."""

from __future__ import annotations

import re

# Removed, since people do not see them and models do: controls but for tab and line feed, soft hyphens,
# zero-width and bidirectional characters, tag characters, and the selectors that can smuggle bytes.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e01ef]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Tokens that end a turn, open thinking or call a tool in some model's chat template. A blank behind the
# first character is enough: tokenizers match these tokens whole, and every visible character stays.
_ANGLE = (
    "s|bos|eos|pad|unk|mask|sep|cls|sop|eop|think|thinking|reasoning|tools?|tool_calls?|tool_responses?|turn|"
    "(?:start|end)_of_(?:turn|image|text|role|thought)|start_function_call|end_function_call|escape|"
    r"im_(?:start|end)|extra_id_\d+|unused\d+|reserved_\d+|EOT|SEP|CLS|MASK|endoftext"
)
_SQUARE = (
    "INST|SYS|SYSTEM|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK|"
    "IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|CLS|SEP|MASK|gMASK|sMASK|BOS|EOS|UNK|PAD"
)
_TEMPLATE_TOKEN = re.compile(
    rf"<(?=[|｜][^\s<>|｜]{{1,80}}[|｜]?>|/?[^\s<>|｜]{{1,80}}[|｜]>|/?(?:{_ANGLE})>|</?SYS>>)|\[(?=/?(?:{_SQUARE})\])",
    re.IGNORECASE,
)


def for_judge(text: str) -> str:
    r"""A copy of ``text`` that shows a judge what a person sees.

    Control, zero-width and bidirectional characters are gone, line ends are ``\n``, and the special
    tokens of chat templates are broken up with a blank (``<|im_end|>`` becomes ``< |im_end|>``). Lone
    surrogates become U+FFFD. Linear in the length of the text.
    """
    text = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))  # first: they may split a token
    return _TEMPLATE_TOKEN.sub(r"\g<0> ", _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text))
