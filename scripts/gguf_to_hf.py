"""Write the one GGUF file of a folder as a Hugging Face folder that vLLM serves.

Usage: python gguf_to_hf.py FOLDER_OF_THE_GGUF FOLDER_TO_WRITE
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def convert(source: Path, target: Path) -> None:
    """Write the weights of ``source``/*.gguf in bfloat16, and the tokenizer, to ``target``.

    Raises:
        ValueError: ``source`` does not hold exactly one GGUF file.
    """
    (file,) = source.glob("*.gguf")
    loaded = AutoModelForCausalLM.from_pretrained(source, gguf_file=file.name, dtype=torch.bfloat16)
    # A model read from GGUF refuses to be saved, as it counts as quantised: a fresh one takes its weights.
    config = type(loaded.config)(
        **{k: v for k, v in loaded.config.to_dict().items() if k != "quantization_config"}
    )
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=file.name).save_pretrained(target)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
