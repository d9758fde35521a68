r"""Calls that were broken off and begun again in their middle: no part of one runs as a call.

<parameter=path>src/ma</pa\nparameter=path>src/main.rs</parameter>                       the argument is begun again
<invoke name="f"><parameter name="a">1</parameter><invoke name="f"><parameter name="b">  the call is
<arg_value>src/main.rs\u003c/arg_value\u003e<arg_key>                                    the closer is escaped
<arg_value>all done</arg_value <tool_call>f<arg_key>                                     the answer is
<parameter=path>src/main.rs</parameter> <tool_call>\n<function=f>                        the answer is
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse
from toolfmt.dialect.record import Dialect
from toolfmt.model import ToolDefinition

ARGUMENTS = {"path": "src/main.rs", "note": "all done", "count": 17}
TOOL = ToolDefinition(name="write", parameters=slips.tool("write", ARGUMENTS).parameters | {"required": ["path"]})
"""A tool of which a call without its last arguments is valid."""
OPTIONS: list[dict[str, Any]] = [{}, {"repair": True}, {"strict": True}]
ESCAPES = {"<": r"\u003c", ">": r"\u003e"}
DIALECTS = [
    one
    for one in sampling.dialects()
    if one.syntax is not None and (elements := one.syntax.forms[0].elements) is not None and elements.escape == "none"
]

SECTIONED = [
    one
    for one in DIALECTS
    if one.syntax is not None
    and not one.syntax.forms[0].each
    and one.syntax.forms[0].section.partition("{calls}")[0].strip()
]
"""Dialects in which the answer, begun again, differs from the next call of a call without its closer."""


def broken(dialect: Dialect[str], text: str) -> Iterator[str]:
    """Begin the first argument, or the call, again; escape the argument's closer; cut a call off, and in a closer."""
    assert dialect.syntax is not None
    elements = dialect.syntax.forms[0].elements
    assert elements is not None
    before, _, after = elements.member.partition("{key}")
    first, value = text.index(f"{before}path"), text.index("src/main.rs")
    second = text.index(f"{before}note")
    yield text[:second] + text[:first] + text[second:]
    yield f"{text[:second]} {text}"
    opening = text[first:value].lstrip("<|\uff5c")
    if before.lstrip("<|\uff5c"):
        for cut in ("src", "src/main.rs</pa\n", "src/main\n"):
            yield text[:value] + cut + opening + text[value:]
    closer = after.partition("{value}")[2].strip().replace("{key}", "path")
    if closer.startswith("</") and closer.endswith(">"):
        yield text.replace(closer, "".join(ESCAPES.get(char, char) for char in closer), 1)
        end = text.index(after.partition("{value}")[2].strip().replace("{key}", "note"), second)
        yield f"{text[: end + len(closer) - 1]} {text}"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_no_part_of_a_call_that_is_begun_again_runs(dialect: Dialect[str], options: dict[str, Any]) -> None:
    text = slips.written(dialect, [slips.call(dialect, "write", ARGUMENTS)])
    assert text is not None
    for one in broken(dialect, text):
        result = parse(one, dialect=dialect, tools=[TOOL], validate=True, **options)
        assert all(jsontext.equal(call.arguments, ARGUMENTS) for call in result.calls), one
        assert result.calls or result.failures, one


@pytest.mark.parametrize("dialect", SECTIONED, ids=lambda dialect: dialect.name)
def test_a_call_that_is_cut_off_before_the_answer_begins_again_does_not_run(dialect: Dialect[str]) -> None:
    other = TOOL.model_copy(update={"name": "send"})
    calls = [slips.call(dialect, "write", ARGUMENTS), slips.call(dialect, "send", ARGUMENTS)]
    text = slips.written(dialect, calls)
    assert text is not None
    assert dialect.syntax is not None
    elements = dialect.syntax.forms[0].elements
    assert elements is not None
    cut = text.rindex(f"{elements.member.partition('{key}')[0]}note")
    for between in ("", " ", "\n"):
        result = parse(f"{text[:cut]}{between}{text}", dialect=dialect, tools=[TOOL, other], validate=True)
        assert all(jsontext.equal(call.arguments, ARGUMENTS) for call in result.calls), text
