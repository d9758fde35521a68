"""A format of your own: described as data, used in both directions, checked by the laws.

python examples/custom_dialect.py
"""

from __future__ import annotations

from toolfmt import ToolInvocation, default_registry, manifest, parse, render_calls, text_dialect
from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.signatures import signature
from toolfmt.workshop.testing import laws

DIALECT = text_dialect(
    name="do-block",
    summary="JSON objects in <do> elements",
    syntax=Syntax(
        forms=(
            Form(
                section="<do>{calls}</do>",
                call="{call}",
                json=JsonCall(template={"tool": "{name}", "with": "{arguments}"}, accepts=({"use": "{name}"},)),
            ),
        ),
        reasoning=(("<why>", "</why>"),),
        result='<done tool="{name}">{content}</done>',
    ),
    schema=signature,
    # A template's text; its name if it is one of the package's.
    manifest="""Write <do> elements to use these tools:
{% for tool in tools %}
{{ tool.schema }}
  {{ tool.examples[-1].text }}
{% endfor %}""",
    sources=(Provenance(reference="examples/custom_dialect.py", kind="source"),),
)


def search(query: str, limit: int = 10) -> list[str]:
    """Search the notes."""
    return [query] * limit


def main() -> None:
    """Show, write and read with the dialect, and check it."""
    registry = default_registry().with_dialect(DIALECT)
    print(manifest([search], dialect="do-block", registry=registry))

    calls = [ToolInvocation(name="search", arguments={"query": "a </do> b", "limit": 3})]
    text = render_calls(calls, dialect=DIALECT)
    print(f"\nwritten  {text}")

    answer = f"<why>Notes first.</why>Looking it up. {text}\n<do>{{'use': 'search', 'with': {{'query': 'c'}}}}</do>"
    result = parse(answer, dialect=DIALECT, tools=[search])
    print(f"thought  {result.reasoning}")
    print(f"text     {result.text.strip()}")
    for call in result.calls:
        print(f"call     {call.name} {call.arguments}")
    for notice in result.notices:
        print(f"notice   {notice.kind}: {notice.detail}")

    laws.round_trip(DIALECT, calls)
    laws.chunking(DIALECT, answer, range(len(answer)))
    laws.lossless(DIALECT, answer)
    laws.truncated(DIALECT, text, range(len(text)))
    print("the laws hold")


if __name__ == "__main__":
    main()
