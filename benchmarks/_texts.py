"""Responses like a policy's: about 400 words in sentences and paragraphs, with some Markdown."""

from __future__ import annotations

import random

WORDS = """
the a river light window because never table often paper quietly between mountain letter every music
carries small green answer market under silver morning people bring another garden story however simple
question travel harbour winter almost bread before number circle Anna
""".split()  # noqa: SIM905 - a list of so many words reads badly


def text(rng: random.Random, paragraphs: tuple[int, int] = (3, 6)) -> str:
    """A text of so many paragraphs (least, most), each of about 90 words."""
    parts = []
    for _ in range(rng.randint(*paragraphs)):
        sentences = []
        for _ in range(rng.randint(4, 9)):
            words = [rng.choice(WORDS) for _ in range(rng.randint(6, 22))]
            if rng.random() < 0.3:
                words[len(words) // 2] += ","
            sentences.append(" ".join(words).capitalize() + rng.choice([".", ".", ".", "!", "?"]))
        parts.append(" ".join(sentences))
    if rng.random() < 0.4:
        parts.append("\n".join(f"* **{rng.choice(WORDS)}** {rng.choice(WORDS)}" for _ in range(4)))
    return "\n\n".join(parts)
