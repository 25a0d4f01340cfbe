"""Two steps of TRL's real GRPO on a tiny random model; run by the Python of `.make/trl`, not by pytest.

    python trl_training.py '{"url": …, "way": "reward" | "trainer", "out": …, "batch": …, "rubrics": …, …}'

Each process writes OUT.<its index>: a line for each step with the rows it generated and the advantages it
trained on, and a last line with what the trainer has logged.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

from rubricate_clients.adapters import AdapterSettings
from rubricate_clients.adapters.trl import RDANGRPOTrainer, reward_with

SENTENCES = [
    "The river carries the boats past the old mill.",
    "A cook stirs the soup and tastes it twice.",
    "Snow lies on the roofs of the quiet village.",
]


def tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer trained on the sentences, with no more than bytes and a few merges."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=120, special_tokens=["<pad>", "<eos>"]))
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )


def main(
    url: str, way: str, out: str, batch: int, generations: int, prompts: list[str], rubrics: list[Any]
) -> None:
    """Train; `batch` is the rows of one process."""
    set_seed(7)
    words = tokenizer()
    shape: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    shape |= {"hidden_size": 16, "intermediate_size": 32, "max_position_embeddings": 128}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(words), **shape))
    args = GRPOConfig(
        output_dir=f"{out}.trainer",
        per_device_train_batch_size=batch,
        num_generations=generations,
        max_completion_length=12,
        max_steps=2,
        logging_steps=1,
        log_completions=True,
        scale_rewards="none" if way == "reward" else "group",
        use_cpu=True,
        report_to=[],
        save_strategy="no",
    )
    rows = [{"prompt": prompt, "rubrics": rubrics} for prompt in prompts]  # Arrow pads them with nulls
    common: dict[str, Any] = {
        "args": args,
        "train_dataset": Dataset.from_list(rows),
        "processing_class": words,
    }
    if way == "reward":
        made = GRPOTrainer(model, reward_with(url=url, log_rubrics="letter, calm"), **common)
    else:
        made = RDANGRPOTrainer(model, rubricate=AdapterSettings.read(url=url), **common)

    lines: list[dict[str, Any]] = []
    generate_and_score = made._generate_and_score_completions

    def noted(inputs: list[dict[str, Any]]) -> dict[str, Any]:
        scored: dict[str, Any] = generate_and_score(inputs)
        texts = words.batch_decode(scored["completion_ids"], skip_special_tokens=True)
        lines.append(
            {
                "prompts": [row["prompt"] for row in inputs],
                "completions": texts,
                "advantages": scored["advantages"].tolist(),
                "logged": list(made._logs["advantages"]),
            }
        )
        return scored

    made._generate_and_score_completions = noted
    made.train()
    lines.append({"history": made.state.log_history})
    Path(f"{out}.{made.accelerator.process_index}").write_text("\n".join(map(json.dumps, lines)))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
