"""A call that is given up inside its arguments, or has an unpaired quote in a text, is never a call."""

from __future__ import annotations

import pytest

import toolfmt
from tests import slips
from toolfmt.events import coalesce

TOOLS = [slips.tool("write", {"path": "a", "text": "b"})]


@pytest.mark.parametrize("name", ["olmo3", "pythonic", "lfm2", "llama3-builtin", "nexus", "ui-tars", "llama4-pythonic"])
@pytest.mark.parametrize("what", ["given up", "a bracket", "a sentence"])
def test_no_call_is_made_of_what_was_given_up(name: str, what: str) -> None:
    dialect = toolfmt.default_registry().dialect(name)
    meant = slips.call(dialect, "write", {"path": "a b.txt", "text": "x = 3"})
    text = slips.written(dialect, [meant])
    assert text is not None
    begun, quote = text.index("write"), text[text.index("x = 3") - 1]
    first = text[begun : text.index("a b.txt") + len("a b.txt") + 1]
    answer = {
        "given up": f"{text[:begun]}{first} {text[begun:]}",
        "a bracket": text.replace("x = 3", f"x = 3{quote}("),
        "a sentence": text.replace("x = 3", f"x = 3{quote} is set."),
    }[what]
    for repair in (False, True):
        result = toolfmt.parse(answer, dialect=name, tools=TOOLS, repair=repair)
        assert all(call.arguments == meant.arguments for call in result.calls)
        assert result.failures
        pieces = toolfmt.parse_stream([*answer], dialect=name, tools=TOOLS, repair=repair)
        assert tuple(coalesce([*pieces])) == result.events


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "mimo",
            "<tool_call><function=write><parameter=path>a</parameter><parameter=text='b'</parameter></function></tool_call>",
        ),
        ("cline", "<write>\n<path>\na\n</path>\n<text: b\n</text>\n</write>"),
        (
            "glm45",
            (
                "<tool_call>write\n<arg_key>path</arg_key>\n<arg_value>a</arg_val\nue>\n<arg_key>text</arg_key>\n"
                "<arg_value>b</arg_value>\n</tool_call>"
            ),
        ),
    ],
)
def test_repair_leaves_no_markup_in_a_value(name: str, answer: str) -> None:
    result = toolfmt.parse(answer, dialect=name, tools=TOOLS, repair=True)
    assert [call.arguments for call in result.calls] in ([], [{"path": "a", "text": "b"}])
    assert result.calls or result.failures
