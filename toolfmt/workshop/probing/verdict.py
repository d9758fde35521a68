"""One sentence on a server, from what was found: what is wrong in the first place, and what to do about it.

this server's tool parser is off: its calls are text in the format hermes; start vLLM with
`--enable-auto-tool-choice --tool-call-parser hermes`
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from toolfmt.workshop.probing.findings import Report

MARKUP: Final = "markup_in_content"
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


def verdict(report: Report) -> str:
    """Say in one sentence what a report's findings come to, and what to do about it."""
    errors = [one for one in report.findings if one.severity == "error"]
    if report.unusable:
        why = f": {errors[-1].rule}, {errors[-1].came}" if errors else ""
        return f"this server gives no usable answers{why}"
    left = [one for one in errors if one.rule == MARKUP]
    formats = Counter(text.partition(":")[0] for one in left for text in one.read)
    if formats:
        dialect = formats.most_common(1)[0][0]
        off = len(left) * 2 > len({(one.question, one.mode) for one in errors})
        state = "is off: its calls are text" if off else "misses some calls: they are text"
        return f"this server's tool parser {state} in the format {dialect}; {_advice(dialect)}"
    if not errors:
        warned = len(report.findings)
        rest = f"; {warned} {'warning' if warned == 1 else 'warnings'} may be the model's own doing" if warned else ""
        return f"this server's tool calling is faithful in {report.asked} answers{rest}"
    rules = Counter(one.rule for one in errors)
    listed = ", ".join(f"{rule} ({times})" for rule, times in rules.most_common(3))
    return f"this server gets tool calls wrong: {listed}{' and more' if len(rules) > 3 else ''}"  # noqa: PLR2004


def _advice(name: str) -> str:
    """Say how calls in a dialect are read: by the engine's own parser where it has one, else by the gateway."""
    dialect = default_registry().dialect(name) if name in default_registry() else None
    if dialect is None or not any(source.reference.startswith(_ENGINE) for source in dialect.sources):
        return f"read it with `toolfmt.execution.TextDriver(model, dialect={name!r})` or put `toolfmt serve` in front"
    parser = _PARSERS.get(dialect.name, dialect.name.replace("-", "_"))
    return f"start vLLM with `--enable-auto-tool-choice --tool-call-parser {parser}`"
