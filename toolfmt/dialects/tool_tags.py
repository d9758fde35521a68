"""Calls whose element is the tool's name: what counts as a call depends on the tools that are offered.

    <read_file>
    <path>a.txt</path>
    </read_file>                      morph-xml, cline: an element for each argument

    <write_file>
    path: a.txt
    content: |
      text
    </write_file>                     yaml-xml: arguments as YAML

Without tools nothing is a call. Elements nest, and a repeated one is a list; an
attribute of the call's element is an argument too. Entities and CDATA are read in
`morph-xml`; in `cline` text is taken as it is, but for a line break on each
side.
"""

from dataclasses import replace

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.dialects._native import in_tags, native

_MIDDLEWARE = "minpeter/ai-sdk-tool-call-middleware, src/core"
_ELEMENTS = Elements(
    member="<{key}>{value}</{key}>", item="<item>{value}</item>", quotes=(("<![CDATA[", "]]>"),), indent=""
)
_JSON = Form(call="<{name}>{args}</{name}>", offered=True)
"""A JSON object where elements are due, into which models fall back."""
_MORPH = Syntax(
    forms=(Form(call="<{name}>\n{members}</{name}>", offered=True, elements=_ELEMENTS), _JSON),
    tools="<tools>\n{tools}\n</tools>",
    result="<tool_response>\n  <tool_name>{name}</tool_name>\n  <result>{content}</result>\n</tool_response>",
)

DIALECTS = (
    native(
        "morph-xml",
        "an element named by the tool, with an element for each argument",
        _MORPH,
        Provenance(reference=f"{_MIDDLEWARE}/protocols/morph-xml-protocol.ts", kind="source", revision="0e1328e"),
        Provenance(reference=f"{_MIDDLEWARE}/prompts/morph-xml-prompt.ts", kind="source", revision="1b75c85"),
        aliases=("sijawara",),
    ),
    native(
        "cline",
        "as morph-xml with raw text: Cline, Roo Code and Kilo Code",
        replace(
            _MORPH,
            forms=(
                Form(
                    call="<{name}>\n{members}</{name}>",
                    offered=True,
                    elements=replace(_ELEMENTS, member="<{key}>\n{value}\n</{key}>", escape="none", quotes=()),
                ),
                _JSON,
            ),
            reasoning=(("<thinking>", "</thinking>"),),
            result="[{name}] Result:\n{content}",
        ),
        Provenance(
            reference="cline/cline, src/core/assistant-message/parse-assistant-message.ts",
            kind="source",
            revision="031561e",
        ),
        aliases=("roo", "roo-code", "kilo", "kilo-code"),
    ),
    native(
        "yaml-xml",
        "an element named by the tool, with the arguments as YAML",
        replace(
            _MORPH,
            forms=(Form(call="<{name}>\n{yaml}</{name}>", offered=True), in_tags("<tool_call>\n", "\n</tool_call>")),
        ),
        Provenance(reference=f"{_MIDDLEWARE}/prompts/yaml-xml-prompt.ts", kind="source", revision="17cf35a"),
        Provenance(reference=f"{_MIDDLEWARE}/protocols/yaml-xml-parsing.ts", kind="source", revision="20f1281"),
    ),
)
