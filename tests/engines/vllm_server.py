"""vLLM's CPU build with the small model that ``scripts/engines/vllm.sh`` made, asked directly."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import httpx2

from engines.process import Server

CONTEXT = 4096
"""Tokens that a prompt and its answer may have."""

LABELS = "012"

Messages = Sequence[Mapping[str, str]]


class Vllm(Server):
    """One vLLM.

    Args:
        home: Folder with ``venv`` and ``model``.
        log: File that takes its output.
    """

    def __init__(self, home: Path, log: Path) -> None:
        command = [str(home / "venv/bin/vllm"), "serve", str(home / "model"), "--served-model-name", "judge"]
        command += ["--dtype", "float32"]  # bfloat16 takes ten times as long on a CPU without AVX-512
        command += ["--block-size", "32"]  # a CPU's own is 128: the prefix cache would know no smaller steps
        command += ["--max-model-len", str(CONTEXT), "--max-num-batched-tokens", "2048"]
        command += ["--max-num-seqs", "64", "--enforce-eager"]
        command += ["--enable-prefix-caching", "--enable-prompt-tokens-details"]
        env = {
            "VLLM_CPU_KVCACHE_SPACE": "2",  # GiB
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": str(os.cpu_count()),
            "VLLM_HOST_IP": "127.0.0.1",
            "GLOO_SOCKET_IFNAME": "lo",
            "VLLM_CACHE_ROOT": str(home / "cache"),
            "VLLM_NO_USAGE_STATS": "1",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
        }
        super().__init__(command, env, health="/health", start_s=400, log=log)

    def tokens_of(self, text: str) -> list[int]:
        """Token ids of a text that is no conversation; special tokens in it count as such."""
        return self._tokens({"prompt": text, "add_special_tokens": False})

    def prompt_tokens(self, messages: Messages) -> list[int]:
        """Token ids of a conversation as the model's chat template writes it."""
        return self._tokens({"messages": messages, **_ending(messages)})

    def label_logprobs(self, messages: Messages) -> dict[str, float]:
        """Log-probability of each label as the first token of the answer, over the whole vocabulary.

        Asked for by token ids, and so in another way than a grammar over the labels.
        """
        ids = {label: self._label_id(label) for label in LABELS}
        body = {
            "model": "judge",
            "messages": messages,
            **_ending(messages),
            "max_tokens": 1,
            "temperature": 0,
            "allowed_token_ids": list(ids.values()),
            "logprobs": True,
            "logprob_token_ids": list(ids.values()),
        }
        answer = self._post("/v1/chat/completions", body)
        alternatives = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found = {a["token"]: a["logprob"] for a in alternatives if a["token"] in ids}
        assert found.keys() == ids.keys(), alternatives
        assert all(math.isfinite(logprob) for logprob in found.values())
        return found

    def answered(self) -> int:
        """Completions that it has finished since it started."""
        lines = httpx2.get(f"{self.url}/metrics", trust_env=False, timeout=60).text.splitlines()
        return sum(int(float(x.split()[-1])) for x in lines if x.startswith("vllm:request_success_total"))

    @cache  # noqa: B019  one server lives as long as the test run
    def _label_id(self, label: str) -> int:
        (token,) = self.tokens_of(label)
        return token

    def _tokens(self, body: Mapping[str, Any]) -> list[int]:
        tokens: list[int] = self._post("/tokenize", {"model": "judge", **body})["tokens"]
        return tokens

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        answer = httpx2.post(self.url + path, json=body, trust_env=False, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()


def _ending(messages: Messages) -> dict[str, bool]:
    """How a conversation goes on: with a new turn of the assistant, or with the one that was begun for it."""
    is_begun = messages[-1]["role"] == "assistant"
    return {"add_generation_prompt": not is_begun, "continue_final_message": is_begun}
