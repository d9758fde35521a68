"""What the formats of open models have in common: markers around JSON, tools shown in the system prompt.

# Tools ... <tools>
{"type": "function", "function": {"name": "get_weather", ...}}
</tools>

What differs is in the families' own files.
"""

from __future__ import annotations

from toolfmt.dialect.record import Dialect, Provenance, SchemaFormatter
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.text import text_dialect

THINK = (("<think>", "</think>"),)
THINK_LINES = (("<think>\n", "\n</think>\n\n"),)
VLLM = Provenance(reference="vllm-project/vllm, vllm/tool_parsers", kind="source", revision="0.33")
MISTRAL = ("[IMG]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[AUDIO]", "[TRANSCRIBE]")
"""Special tokens of Mistral's tokenizers that look like any word in brackets."""
SGLANG = Provenance(reference="sgl-project/sglang, function_call detectors", kind="source", revision="0.5.23")
XGRAMMAR = Provenance(reference="mlc-ai/xgrammar, builtin structural tags", kind="source", revision="0.2.8")

_ARGUMENTS = ("arguments", "parameters", "args", "input")
_NAMES = ("name", "tool_name", "function")


def template(name: str) -> Provenance:
    """A model's own chat template."""
    return Provenance(reference=name, kind="template")


def vllm_draft(parser: str, revision: str) -> Provenance:
    """A parser that a pull request would add to vLLM."""
    return Provenance(reference=f"vllm-project/vllm, {parser}.py in a pull request", kind="source", revision=revision)


def json_call(name: str = "name", arguments: str = "arguments", **more: str) -> JsonCall:
    """A JSON call under these keys; the other usual ones are slips, as is a `function` object around both."""
    others = dict.fromkeys(_ARGUMENTS, "{arguments}") | dict.fromkeys(_NAMES, "{name}")
    around: dict[str, object] = {"function": {"name": "{name}", "arguments": "{arguments}"}}
    return JsonCall(
        template={name: "{name}", arguments: "{arguments}", **more},
        accepts=({"type": "function", "id": "{id}"},),
        slips=({**others}, around),
    )


def in_tags(opener: str, closer: str, json: JsonCall | None = None) -> Form:
    """JSON objects, each between the markers; several between one pair are read too, with a notice."""
    return Form(section=f"{opener}{{calls}}{closer}", call="{call}", json=json or json_call())


def or_json(form: Form) -> tuple[Form, ...]:
    """The form, and the same section around JSON objects, into which models fall back."""
    return form, Form(section=form.section, call="{call}", json=json_call())


def chat(*forms: Form, before_calls: str = "\n") -> Syntax:
    """Calls of these forms among the markers that Hermes began with and many models kept."""
    return Syntax(
        forms=forms,
        reasoning=THINK_LINES,
        before_calls=before_calls,
        hidden=(("<tool_response>", "</tool_response>"),),
        stop=("<|im_end|>",),
        tools="<tools>\n{tools}\n</tools>",
        result="<tool_response>\n{content}\n</tool_response>",
    )


def native(
    name: str,
    summary: str,
    syntax: Syntax,
    *sources: Provenance,
    aliases: tuple[str, ...] = (),
    schema: SchemaFormatter = openai_line,
) -> Dialect[str]:
    """Make the dialect of a model family."""
    return text_dialect(
        name=name,
        summary=summary,
        syntax=syntax,
        schema=schema,
        manifest="native.jinja",
        sources=sources,
        aliases=aliases,
    )
