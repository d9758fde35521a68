"""A call quoted in a value of another call never runs, whatever character of the outer call's beginning is wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests import sampling, slips
from toolfmt import parse, parse_stream
from toolfmt.events import CallEnd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

DIALECTS = sampling.kinds()
STEP = 1 if sampling.everything else 23
WRITE, RM = {"path": "a.txt", "text": ""}, {"p": "/"}
TOOLS = [slips.tool("write", WRITE), slips.tool("rm", RM)]
OTHERS = {"<": "[{(", ">": "])}", "[": "<{", "]": ">}", "{": "[(", "(": "[{", '"': "'`", "'": '"', "|": "/", "=": ":"}


def damaged(head: str) -> Iterator[str]:
    """A call's beginning with one wrong character, or without one of its tags."""
    for at, char in enumerate(head):
        before, after = head[:at], head[at + 1 :]
        yield before + after
        yield before + after[:1] + char + after[1:]
        if not char.isspace():
            yield before + char + char + after
        yield from (before + other + after for other in OTHERS.get(char, char.swapcase()))
    for tag in re.finditer(r"<[^<>]*>", head):
        yield head[: tag.start()] + head[tag.end() :]
        yield head[: tag.start()] + tag.group().upper() + head[tag.end() :]


def swapped(outer: str) -> Iterator[str]:
    """The call with what opens and what closes its text in each other's place."""
    opener = [*re.finditer(r"<[^<>]*>", outer[: outer.index("START")])][-1:]
    closer = re.compile(r"<[^<>]*>").search(outer, outer.rindex("END"))
    for one in opener if closer else ():
        assert closer is not None
        yield "".join(
            (
                outer[: one.start()],
                closer.group(),
                outer[one.end() : closer.start()],
                one.group(),
                outer[closer.end() :],
            )
        )


def written(dialect: Dialect[str], text: str) -> Iterator[str]:
    """Calls with this text, where the format can hold it."""
    for arguments in ({"path": "a.txt", "text": text}, {"text": text, "path": "a.txt"}):
        outer = slips.written(dialect, [slips.call(dialect, "write", arguments)])
        if outer is not None and "START" in outer:
            yield outer


def quoting(dialect: Dialect[str], other: Dialect[str] | None = None) -> Iterator[str]:
    """Calls that quote another one, which may be of an `other` format, each with a wrong beginning."""
    quoted = slips.written(other or dialect, [slips.call(other or dialect, "rm", RM)])
    assert quoted is not None
    text = f"START\n{quoted.strip()}\nEND"
    for outer in written(dialect, text):
        begin = outer.index("START")
        yield from (head + outer[begin:] for head in damaged(outer[:begin]) if head != outer[:begin])
        yield from swapped(outer)
        closer = re.search(r"<[^<>]*>\s*\Z", outer)
        for mark in re.finditer(r"<[^<>]*>|[:=,]", outer[:begin]) if closer else ():  # the call ends before its value
            if closer is not None and mark.group()[0] != "<":
                yield outer[: mark.start()] + closer.group().strip() + outer[mark.start() :]


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"repair": True}], ids=str)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_quoted_call_does_not_run(dialect: Dialect[str], options: dict[str, Any]) -> None:
    for text in [*quoting(dialect)][::STEP]:
        names = [call.name for call in parse(text, tools=TOOLS, dialect=dialect, **options).calls]
        assert "rm" not in names, text


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_nor_does_it_when_the_text_comes_by_characters(dialect: Dialect[str]) -> None:
    for text in [*quoting(dialect)][:: 5 * STEP]:
        events = parse_stream(list(text), tools=TOOLS, dialect=dialect)
        names = [event.call.name for event in events if isinstance(event, CallEnd)]
        assert "rm" not in names, text


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_detection_reads_none_of_another_format_in_it(dialect: Dialect[str]) -> None:
    syntax = dialect.syntax
    if syntax is None or syntax.forms[0].elements is None:
        return  # nothing tells a text of code from one around it
    for at, other in enumerate(sampling.partners(dialect, DIALECTS)):
        for text in [*quoting(dialect, other)][at :: 5 * STEP]:
            assert "rm" not in [call.name for call in parse(text, tools=TOOLS, dialect="auto").calls], text


@pytest.mark.parametrize(
    "said", ["Close `<parameter=path>` and <parameter=x>.", 'It is "<arg_value>", (e.g. "<path>").']
)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_after_words_about_values_is_read(dialect: Dialect[str], said: str) -> None:
    text = slips.written(dialect, [slips.call(dialect, "rm", RM)])
    plain, spoken = (parse(f"{words}\n{text}", tools=TOOLS, dialect=dialect).calls for words in ("Well.", said))
    assert text is not None
    assert spoken == plain


def test_a_tag_that_is_there_twice_is_no_part_of_the_value() -> None:
    text = "<tool_call>write\n<arg_key>path</arg_key><arg_value><arg_value>a.txt</arg_value>\n</tool_call>"
    result = parse(text, tools=TOOLS, dialect="glm45")
    assert (result.calls, [failure.reason for failure in result.failures]) == ((), ["malformed"])
