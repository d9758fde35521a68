"""How the servers of open models are configured to read their models' calls.

Sources: vLLM's features/tool_calling, SGLang's docs/advanced_features/tool_parser, llama.cpp's
docs/function-calling.md.
"""

from __future__ import annotations

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


def server_advice(name: str) -> str:
    """Return how to get calls in a dialect from a server: by its own parser if it has one, else by the gateway.

    For "", the dialect is not known.
    """
    dialect = default_registry().dialect(name) if name in default_registry() else None
    if name and (dialect is None or not any(source.reference.startswith(_ENGINE) for source in dialect.sources)):
        return f"read it with `toolfmt.execution.TextDriver(model, dialect={name!r})` or put `toolfmt serve` in front"
    parser = "NAME" if dialect is None else _PARSERS.get(dialect.name, dialect.name.replace("-", "_"))
    return (
        f"start vLLM with `--enable-auto-tool-choice --tool-call-parser {parser}`, SGLang with its own "
        "`--tool-call-parser`, llama.cpp with `--jinja`"
    )
