r"""Response templates of Hugging Face tokenizers, loaded as dialects at run time.

    {"start_anchor": "<|im_start|>assistant\n",
     "fields": {"thinking":   {"open": "<think>", "close": "</think>"},
                "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "repeats": true, "content": "json",
                               "transform": {"type": "function", "function": "{content}"}},
                "content":    {"close": "<|im_end|>"}}}

A template says where an answer's text, reasoning and calls are; checkpoints ship one in their `tokenizer_config.json`.
It is untrusted data: everything in it is checked, and its patterns are translated and never run. The result is a
dialect like any other, which reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.dialect.record import Dialect, Provenance
from toolfmt.errors import ParseError, ResponseTemplateError
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.model import JsonValue
from toolfmt.text import text_dialect
from toolfmt.workshop.response_templates.translating import syntax_of

LARGEST = 1024 * 1024
"""How many characters a template's JSON text may have."""


@checked
def response_dialect(
    template: str | Mapping[str, JsonValue], *, name: str = "response-template", stop: Sequence[str] = ()
) -> Dialect[str]:
    """Make a dialect from a Hugging Face response template.

    `template` is the object, or its JSON text, under `response_template` in `tokenizer_config.json`. `stop` are the
    tokenizer's tokens that end a turn, such as `<|im_end|>`, which a template may leave out. The dialect reads what
    the template reads, but obeys the laws of every dialect: a call's body decides where it ends; a broken or truncated
    call is a failure, not an exception; texts of a repeated region follow each other, and text outside all regions is
    reported in a notice; types come from the tool's schema first. Raises `ResponseTemplateError`, which names the
    field, for a template that is invalid or that a dialect cannot express.
    """
    if isinstance(template, str):
        if len(template) > LARGEST:
            raise ResponseTemplateError("", f"more than {LARGEST} characters")
        try:
            found = jsontext.loads(template)
        except ParseError as error:
            raise ResponseTemplateError("", f"not JSON: {error}") from error
    else:
        found = cast("object", template)
        if jsontext.too_deep(found):
            raise ResponseTemplateError("", f"nested more than {jsontext.MAX_NESTING} levels deep")
    if not isinstance(found, Mapping):
        raise ResponseTemplateError("", f"an object is due, not {type(found).__name__}")
    return text_dialect(
        name=name,
        summary="read from a response template",
        syntax=syntax_of(dict(cast("Mapping[str, JsonValue]", found)), tuple(stop)),
        schema=openai_line,
        manifest="native.jinja",
        sources=(Provenance(reference="a tokenizer's response template", kind="template"),),
    )
