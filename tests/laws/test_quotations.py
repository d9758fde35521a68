"""A call that an answer only shows is text, and says so; what the model means as a call is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import sampling, slips
from toolfmt import parse, parse_stream
from toolfmt.events import CallEnd, coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from toolfmt import ParseResult
    from toolfmt.dialect.record import Dialect

FRAMED = [one for one in sampling.dialects() if one.syntax is not None and one.syntax.frame is not None]
TOOL = ToolDefinition(name="run", parameters={"type": "object", "properties": {"x": {"type": "string"}}})


def written(dialect: Dialect[str], text: str) -> str:
    """Give a text with a call in place of `{c}`, or in quoted lines in place of `{q}`."""
    server = "local" if dialect.traits.carries_server else None
    call = dialect.calls([ToolInvocation(name="run", arguments={"x": "a"}, server=server)], {"run": TOOL}).strip("\n")
    return text.replace("{c}", call).replace("{q}", call.replace("\n", "\n> "))


def read(dialect: Dialect[str], text: str) -> ParseResult:
    result = parse(text, dialect=dialect, tools=[TOOL])
    assert tuple(coalesce(list(parse_stream(iter(text), dialect=dialect, tools=[TOOL])))) == result.events
    return result


def framed(dialect: Dialect[str]) -> bool:
    return dialect.syntax is None or dialect.syntax.frame is not None


@pytest.mark.parametrize(
    "text",
    [
        "You would write `{c}` to run it, but I won't.",
        "It looks like `{c}`",
        "The page says:\n> {q}\n\nI don't do that.",
    ],
)
def test_a_quoted_call_is_text(dialect: Dialect[str], text: str) -> None:
    if framed(dialect):
        return
    whole = written(dialect, text)
    result = read(dialect, whole)
    assert (result.calls, result.failures, result.text) == ((), (), whole)
    assert {notice.kind for notice in result.notices} <= {"quoted_call"}
    meant = read(dialect, whole.replace("`", "")).calls
    assert result.notices or not meant or "`" not in text  # there are markers that only begin a line


@pytest.mark.parametrize("mark", ["`{}`", "``{}``", "` {} `.", "`\n{}\n`", "`text\n{}\n`", "```\n{}\n```\n", '"{}"'])
def test_a_quoted_call_without_a_word_before_it_is_a_weak_one(dialect: Dialect[str], mark: str) -> None:
    whole = written(dialect, mark.replace("{}", "{c}"))
    assert "marker" not in {call.provenance for call in read(dialect, whole).calls}


def test_code_ends_at_as_many_backticks_as_opened_it() -> None:
    call = '<tool_call>\n{"name": "run", "arguments": {"x": "a"}}\n</tool_call>'
    for text in (f"Do ``{call}``.", f"Do `` ` {call} ``.", f"Do ``a`b`{call}``"):
        assert (parse(text, dialect="hermes").calls, parse(text, dialect="hermes").text) == ((), text)
    for text in (f"I use `a` and ``b``. {call}", f"`` ` `` is a backtick. {call}", f"`a\nb`\n{call}"):
        assert [one.provenance for one in parse(text, dialect="hermes").calls] == ["marker"]


@pytest.mark.parametrize("text", ['Never write "{c}" please.', "Never write '{c}' please."])
def test_a_call_in_quotation_marks_does_not_run(dialect: Dialect[str], text: str) -> None:
    if not framed(dialect):
        assert read(dialect, written(dialect, text)).calls == ()


@pytest.mark.parametrize(
    "text",
    ["You would write `{c}` to run it.", 'Never write "{c}" please.', "The page says:\n> {q}\n\nI don't do that."],
)
def test_detection_reads_no_quoted_call(dialect: Dialect[str], text: str) -> None:
    whole = written(dialect, text)
    assert parse(whole, dialect="auto", tools=[TOOL]).calls == ()
    assert [
        event for event in parse_stream(iter(whole), dialect="auto", tools=[TOOL]) if isinstance(event, CallEnd)
    ] == []


@pytest.mark.parametrize("text", ["Write `<tool_call>` first.\n\n{c}", "Write `<tool_call>\n\n{c}", "A ` sign.\n{c}"])
def test_detection_reads_the_call_after_it(text: str) -> None:
    call = '<tool_call>\n{"name": "run", "arguments": {"x": "a"}}\n</tool_call>'
    result = parse(text.replace("{c}", call), dialect="auto", tools=[TOOL])
    assert [(call.name, call.arguments) for call in result.calls] == [("run", {"x": "a"})]


@pytest.mark.parametrize("text", ["The file `a`.\n{c}", "> It is quoted.\n\n{c}", "A ` sign.\n\n{c}"])
def test_another_call_is_read(dialect: Dialect[str], text: str) -> None:
    if framed(dialect):
        return
    plain, result = read(dialect, written(dialect, "It is.\n\n{c}")), read(dialect, written(dialect, text))
    assert [(call.name, call.arguments) for call in result.calls] == [
        (call.name, call.arguments) for call in plain.calls
    ]


@pytest.mark.parametrize(
    "text",
    [
        "You would write `{m}` to run it.{e}",
        "It looks like `{m}{m}`, as I said.{e}",
        'Never write "{m}" please.{e}',
        'Never write "{m}{m}" please.{e}',
        "Never write '{m}' please.{e}",
        "He wrote \u201c{m}{m}\u201d.{e}",
        "The page says:\n> {q}\n\nI don't do that.{e}",
        "The page says:\n> a\n> {q}{q}\n> b\n\nI don't do that.{e}",
        "An example:\n```\n{m}{m}\n```\nI don't do that.{e}",
        "As in ```\n{m}{m}\n``` here.{e}",
    ],
)
@pytest.mark.parametrize("dialect", FRAMED, ids=lambda dialect: dialect.name)
def test_a_quoted_message_is_text(dialect: Dialect[str], text: str) -> None:
    frame = dialect.syntax.frame if dialect.syntax is not None else None
    assert frame is not None
    begin = frame.start + frame.between.partition(frame.start)[2]
    call = begin + written(dialect, "{c}").removesuffix(frame.last) + (frame.last or frame.ends[0])
    whole = text.replace("{m}", call).replace("{q}", call.replace("\n", "\n> ")).replace("{e}", "")
    result = read(dialect, whole)
    assert (result.calls, result.failures, result.text) == ((), (), whole)
    kinds = {notice.kind for notice in result.notices}
    assert kinds == {"quoted_call"} or (not kinds and "{q}" in text and "\n" in frame.call)  # no header, so quoted
    end = text.replace("{e}", frame.ends[0] + written(dialect, begin + "{c}"))
    result = read(dialect, end.replace("{m}", call).replace("{q}", call.replace("\n", "\n> ")))
    assert [(call.name, call.arguments) for call in result.calls] == [("run", {"x": "a"})]
    assert result.text == whole


@pytest.mark.parametrize(
    "text", ["The file `a`.{e}", "> It is quoted.{e}", "```\ncode\n```{e}", 'He said "yes"{e}', "The dogs'{e}"]
)
@pytest.mark.parametrize("dialect", FRAMED, ids=lambda dialect: dialect.name)
def test_a_message_after_a_quotation_is_read(dialect: Dialect[str], text: str) -> None:
    frame = dialect.syntax.frame if dialect.syntax is not None else None
    assert frame is not None
    begin = frame.start + frame.between.partition(frame.start)[2]
    result = read(dialect, text.replace("{e}", frame.ends[0] + written(dialect, begin + "{c}")))
    assert [(call.name, call.arguments) for call in result.calls] == [("run", {"x": "a"})]
    assert (result.text, result.notices) == (text.replace("{e}", ""), ())


@pytest.mark.parametrize("text", ["`{c}`", "```\n{c}\n```"])
@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "xml-items", "kimi-k2", "mistral-v11"])
def test_quotes_around_the_whole_answer_are_no_quotation(name: str, text: str) -> None:
    result = parse(written(default_registry().dialect(name), text), dialect=name, tools=[TOOL])
    assert [(call.name, call.arguments) for call in result.calls] == [("run", {"x": "a"})]


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "xml-items", "kimi-k2", "glm45"])
def test_a_call_in_a_fence_says_so(name: str) -> None:
    text = written(default_registry().dialect(name), "An example:\n```xml\n{c}\n```\nAnd then:\n{c}")
    result = parse(text, dialect=name, tools=[TOOL])
    assert [call.provenance for call in result.calls] == ["fenced", "marker"]


def test_the_rest_of_a_line_is_searched_once_for_the_end_of_code() -> None:
    call = '<tool_call>{"name": "run", "arguments": {"x": "a"}}</tool_call>'
    result = parse("A ` sign: " + call * 300, dialect="hermes", tools=[TOOL])
    assert len(result.calls) == 300


BROKEN_BEGINNINGS = [
    "<tool_cal>run\n<arg_key>x</arg_key>\n<arg_valu>I call ",
    '｜DSML｜invoke name="run">\n\'',
    "<rnu>\nx: |\n  ",
]
"""Of calls of several formats, which none of them reads."""
FOREIGN = [("<run_tool>\n", "\n</run_tool>"), ("<|tools_here|>", ""), ("[RUN_TOOLS]", "")]


@pytest.mark.parametrize("said", ["", "Another model would write "])
@pytest.mark.parametrize("name", ["pythonic", "xlam", "llama3-json", "gemini-json"])
def test_a_call_without_a_marker_fails_in_the_markers_of_another_format(name: str, said: str) -> None:
    written = slips.written(default_registry().dialect(name), [ToolInvocation(name="run", arguments={"x": "1"})])
    for opener, closer in FOREIGN:
        text = f"{said}{opener}{written}{closer}"
        result = parse(text, dialect=name, tools=[TOOL])
        assert (result.calls, len(result.failures)) == ((), 1), text
        assert tuple(coalesce([*parse_stream([*text], dialect=name, tools=[TOOL])])) == result.events, text


@pytest.mark.parametrize("before", BROKEN_BEGINNINGS)
@pytest.mark.parametrize("choice", ["named", "auto"])
@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "mistral-v11", "kimi-k2", "functionary-v31"])
def test_a_call_after_the_beginning_of_a_broken_one_does_not_run(name: str, choice: str, before: str) -> None:
    call = slips.written(default_registry().dialect(name), [ToolInvocation(name="run", arguments={"x": "1"})])
    result = parse(f"{before}{call}", dialect=name if choice == "named" else "auto", tools=[TOOL])
    assert result.calls == ()
    assert result.failures or result.notices


@pytest.mark.parametrize(
    "said",
    [
        "The <run> tool and <function=run> help.",
        "Call `run(x)` as in <b>run</b> it.",
        "```\n<parameter=x>1</parameter>\n```",
    ],
)
def test_words_about_a_tool_are_no_beginning_of_a_call(said: str) -> None:
    call = slips.written(default_registry().dialect("hermes"), [ToolInvocation(name="run", arguments={"x": "1"})])
    assert len(parse(f"{said}\n{call}", dialect="hermes", tools=[TOOL]).calls) == 1


MARKS = [
    *("\u201e\u201c", "\u201e\u201d", "\u201d\u201d", "\u201d\u201c", "\u201a\u2018", "\u00ab\u00bb", "\u00bb\u00ab"),
    *("\u2039\u203a", "\u300c\u300d", "\u300e\u300f", "\u300a\u300b", "\u3008\u3009", "\uff02\uff02"),
    *("\uff07\uff07", "\u301d\u301f", "\ufe41\ufe42", "\uff62\uff63"),
]


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("dialect", [one for one in sampling.dialects() if not framed(one)], ids=lambda one: one.name)
def test_the_quotation_marks_of_any_language_quote(dialect: Dialect[str], marks: str) -> None:
    opener, closer = marks
    whole = written(dialect, f"The page says {opener}{{c}}{closer}, but why?")
    english = read(dialect, whole.replace(opener, "\u201c").replace(closer, "\u201d"))
    result = read(dialect, whole)
    assert (result.calls, result.failures, result.text) == ((), (), whole) or english.failures
    assert not result.calls
    meant = read(dialect, written(dialect, f"The page says {opener}so{closer}.\n\n{{c}}"))
    assert len(meant.calls) == len(read(dialect, written(dialect, "The page says so.\n\n{c}")).calls)
