"""Markers that a slip left in a value: no such value is handed out.

<parameter=path>src/ma</par</parameter>     the closer was begun twice
<parameter=path>src/m<tool_call>ain.rs      a marker inside a word
<a>x</b><b>y</a>                            closers that changed places
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt import CallEnd, parse, parse_stream
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import markers
from toolfmt.parsers.bodies import element_grammar

ARGUMENTS = {"path": "src/main.rs", "count": 17, "note": "all done"}
DIALECTS = [
    one
    for one in sampling.dialects()
    if one.syntax is not None
    and (elements := one.syntax.forms[0].elements) is not None
    and elements.escape != "xml"
    and "\n{value}" not in elements.member
]
"""Formats whose values nothing protects, right before their closers."""
TOOL = slips.tool("write", ARGUMENTS)


def left(dialect: Dialect[str], text: str) -> Iterator[str]:
    """Leave each marker, and the beginnings of the value's closer, in the first argument's value."""
    assert dialect.syntax is not None
    value = "src/main.rs"
    end = text.index(value) + len(value)
    closer = next((one for one in slips.closers(dialect.syntax) if text[end:].lstrip().startswith(one)), "")
    for length in range(2, len(closer)):
        yield text[:end] + closer[:length] + text[end:]
    for marker in markers(dialect.syntax):
        if marker[:1] == "<" and marker[-1:] == ">":
            if marker[1] != "/":
                yield text[: end - 5] + marker + text[end - 5 :]
            if marker[1:2] in "/|\uff5c":
                yield text[:end] + marker + text[end:]
                yield text[: end - len(value)] + marker + text[end - len(value) :]


@pytest.mark.parametrize("options", [{"tools": [TOOL]}, {"tools": [TOOL], "repair": True}, {}], ids=str)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_no_value_holds_a_marker_that_a_slip_left_in_it(dialect: Dialect[str], options: dict[str, Any]) -> None:
    text = slips.written(dialect, [slips.call(dialect, "write", ARGUMENTS)])
    assert text is not None
    for broken in left(dialect, text):
        whole = parse(broken, dialect=dialect, **options)
        cut = [
            event.call for event in parse_stream(list(broken), dialect=dialect, **options) if isinstance(event, CallEnd)
        ]
        for call in (*whole.calls, *cut):
            assert call.arguments.get("path", "src/main.rs") == "src/main.rs", broken


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_tag_is_judged_by_what_is_near_it(dialect: Dialect[str], monkeypatch: pytest.MonkeyPatch) -> None:
    note = "`</path>` " * 500
    text = slips.written(dialect, [slips.call(dialect, "write", {"note": note, "count": 1})])
    assert text is not None
    sizes: list[int] = []

    def mentioned(before: str, after: str) -> bool:
        sizes.append(len(before) + len(after))
        return True

    monkeypatch.setattr(element_grammar, "mentioned", mentioned)
    parse(text, dialect=dialect, tools=[TOOL])
    assert sum(sizes) <= 40 * len(text)
