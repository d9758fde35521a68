"""How the servers of open models are configured to read their models' calls.

Sources: vLLM's features/tool_calling, SGLang's docs/advanced_features/tool_parser, llama.cpp's
docs/function-calling.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Final

from toolfmt.lookup.registry import default_registry

_ENGINE: Final = "vllm-project/vllm, vllm/tool_parsers"
_PARSERS: Final = {
    "cohere-command": "cohere_command3",
    "granite-20b-fc": "granite-20b-fc",
    "granite3": "granite",
    "harmony": "openai",
    "internlm2": "internlm",
    "llama3-json-tag": "llama3_json",
    "mistral-v11": "mistral",
    "mistral-v3": "mistral",
    "phi4-mini": "phi4_mini_json",
}
"""vLLM 0.33's names for its parsers, where they are not the dialect's own."""


def server_advice(name: str, *, others: Sequence[str] = (), path: str = "") -> str:
    """Return how to get calls in a dialect from a server: by its own parser if it has one, else by the gateway.

    For "", the dialect is not known. `others` read the same calls, so their parsers do too. `path` is the model's
    folder, from which a dialect that is not registered is made.
    """
    parser = next(filter(None, map(_parser, (name, *others))), None) if name else "NAME"
    if parser is not None:
        lacking = "" if not name or _parser(name) else f"vLLM's parser {parser} reads the same calls: "
        return (
            f"{lacking}start vLLM with `--enable-auto-tool-choice --tool-call-parser {parser}`, SGLang with its own "
            f"`--tool-call-parser`, llama.cpp with `--jinja`; or {gateway(name, path)}"
        )
    made = repr(name) if name in default_registry() else f"toolfmt.find_dialect({path!r}).dialect"
    return f"read it with `toolfmt.agents.TextDriver(model, dialect={made})`, or {gateway(name, path)}"


def _parser(name: str) -> str | None:
    """Return the name of vLLM's parser for a dialect."""
    dialect = default_registry().dialect(name) if name in default_registry() else None
    if dialect is None or not any(source.reference.startswith(_ENGINE) for source in dialect.sources):
        return None
    return _PARSERS.get(dialect.name, dialect.name.replace("-", "_"))


def gateway(name: str, path: str = "") -> str:
    """Return how to put the gateway in front of a model that writes text; for "", the dialect is not known."""
    known = f" --dialect {name}" if name in default_registry() else ""
    how = known or (f" --model-dir {quote(path)}" if path else "")
    return f"put `toolfmt serve --upstream URL --api text{how}` in front"
