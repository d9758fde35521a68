"""Tells a template of another library, so that it is named and not reported as broken Jinja.

{{- range .Messages }}{{ .Content }}{{ end }}       a Go template, as Ollama has them
{{#each messages}}{{content}}{{/each}}              Handlebars or Mustache
<%= messages %>                                     ERB or EJS
### Instruction: {prompt}                           a text without Jinja
"""

from __future__ import annotations

import re
from typing import Final

_TAGS: Final = re.compile(r"\{\{[-~]?\s*(.{0,80}?)\s*[-~]?\}\}|\{%", re.DOTALL)
_KINDS: Final = (
    ("a Go template, as Ollama has them", re.compile(r"[.$][A-Za-z_]|(?:if|else if|range|with)\b[^'\"]*[.$]|end$")),
    ("a Handlebars or Mustache template", re.compile(r"[#/^>&][A-Za-z]")),
)
_ERB: Final = re.compile(r"<%[=-]?\s*\w")


def foreign(source: str) -> str:
    """Say what kind of template this is, if it is none for Jinja; empty if it may be."""
    tags = [(found.group(1) or "") for found in _TAGS.finditer(source)]
    if not tags:
        return "an ERB or EJS template" if _ERB.search(source) else "a text without anything to fill in"
    for kind, sign in _KINDS:
        if any(sign.match(tag) for tag in tags) and not re.search(r"\{%-?\s*\w", source):
            return kind
    return ""
