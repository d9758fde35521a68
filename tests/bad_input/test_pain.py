"""What users of other parsers complain of, held for every text format there is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import toolfmt
from tests import sampling
from toolfmt import jsontext
from toolfmt.dialect.record import Dialect
from toolfmt.events import CallEnd, CallFailed, Event, TextDelta
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop.testing import laws

DIALECTS = sampling.kinds()
WRITE = toolfmt.ToolDefinition(
    name="write",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "n": {"type": "integer"},
            "on": {"type": "boolean"},
            "text": {"type": "string"},
        },
    },
)
TOOLS = [WRITE]
FULL = {"path": "a", "n": 1, "on": True, "text": "x"}


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name, scope="module")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    return request.param


def written(dialect: Dialect[str], *arguments: dict[str, object]) -> str:
    """Write a call of the tool for each of the arguments."""
    calls = [toolfmt.ToolInvocation(name="write", arguments=one, server="local") for one in arguments]
    return dialect.calls(calls, {WRITE.name: WRITE})


def read(dialect: Dialect[str], text: str) -> list[Event]:
    """Read a text whole; nothing is lost, and cut into single characters it is the same."""
    laws.lossless(dialect, text, TOOLS)
    return laws.chunking(dialect, text, range(len(text)), TOOLS)


def calls(events: list[Event]) -> list[object]:
    return [event.call.arguments for event in events if isinstance(event, CallEnd)]


def failed(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, CallFailed)]


def tolerant(dialect: Dialect[str]) -> bool | None:
    """Whether small slips in the JSON of a call are read; None where its arguments are no JSON."""
    assert dialect.syntax is not None
    form = dialect.syntax.forms[0]
    if form.json is not None:
        return form.json.tolerant
    return True if "{args}" in form.call and form.literals is None else None


def each(dialects: list[Dialect[str]]) -> pytest.MarkDecorator:
    """Run a test for some of the dialects only."""
    return pytest.mark.parametrize("dialect", [pytest.param(one, id=one.name) for one in dialects])


JSON = [dialect for dialect in DIALECTS if tolerant(dialect) is not None]


def same(found: Sequence[object], wanted: Sequence[object]) -> bool:
    return len(found) == len(wanted) and all(map(jsontext.equal, found, wanted))  # type: ignore[arg-type] - JSON values


def test_several_calls_in_one_chunk_are_several(dialect: Dialect[str]) -> None:
    if dialect.traits.parallel:
        wanted: list[dict[str, object]] = [{"path": "a"}, {"path": "b", "n": 2}, {}]
        assert same(calls(read(dialect, written(dialect, *wanted))), wanted)


def test_some_hundred_calls_are_as_many(dialect: Dialect[str]) -> None:
    if dialect.traits.parallel:
        wanted: list[dict[str, object]] = [{"n": number} for number in range(300)]
        text = written(dialect, *wanted)
        for size in (len(text), 1_000):
            pieces = laws.cut(text, range(size, len(text), size))
            assert same(calls(laws.read(dialect, pieces, TOOLS)), wanted)


@pytest.mark.parametrize("name", sampling.share(["hermes", "glm47", "yaml-xml"], 0, 3))
def test_ten_thousand_calls_are_ten_thousand(name: str) -> None:
    dialect = default_registry().dialect(name)
    wanted: list[dict[str, object]] = [{"n": number} for number in range(10_000)]
    assert same(calls(laws.read(dialect, [written(dialect, *wanted)], TOOLS)), wanted)


@pytest.mark.parametrize(
    "closer",
    ["</tool_call>", "</tool_calls>", "</function>", "</invoke>", "<|im_end|>", "</tool>", "]", "}", "```", "</x>"],
)
def test_the_closer_of_another_format_harms_no_call(dialect: Dialect[str], closer: str) -> None:
    events = read(dialect, written(dialect, FULL) + closer)
    assert same(calls(events), [FULL])
    assert not failed(events)


def test_a_call_that_is_cut_anywhere_is_no_other_call(dialect: Dialect[str]) -> None:
    text = written(dialect, FULL, FULL) if dialect.traits.parallel else written(dialect, FULL)
    laws.truncated(dialect, text, range(0, len(text), 2), TOOLS)


def marks(dialect: Dialect[str]) -> tuple[str, str]:
    """What opens and closes the section that a written call is in; empty where it has none that is always written."""
    assert dialect.syntax is not None
    opener, _, closer = dialect.syntax.forms[0].section.partition("{calls}")
    return opener.strip(), "" if "{?" in closer else closer.strip()


@each([dialect for dialect in DIALECTS if marks(dialect)[1]])
def test_the_last_closer_may_be_missing(dialect: Dialect[str]) -> None:
    """The end of a section of calls, after a call that is complete."""
    text, closer = written(dialect, FULL).rstrip(), marks(dialect)[1]
    assert text.endswith(closer)
    events = read(dialect, text.removesuffix(closer))
    assert same(calls(events), [FULL])


@each([dialect for dialect in DIALECTS if marks(dialect)[0]])
def test_the_first_opener_may_be_missing(dialect: Dialect[str]) -> None:
    """Without the marker of its section a call is read where its own markers tell; else it is shown, not lost."""
    assert dialect.syntax is not None
    form, opener, text = dialect.syntax.forms[0], marks(dialect)[0], written(dialect, FULL)
    assert text.startswith(opener)
    events = read(dialect, text.removeprefix(opener))
    if form.alone:
        assert same(calls(events), [FULL])
    else:
        assert calls(events) in ([], [FULL])
        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert calls(events) or failed(events) or "write" in shown


SLIPS = {
    "trailing comma": ('"text": "x"', '"text": "x",'),
    "Python's words": ('"on": true', '"on": True'),
    "single quotes": ('"path": "a"', "'path': 'a'"),
    "a comment": ('"n": 1', '"n": 1 /* one */'),
    "a comment to the line's end": ('"n": 1,', '"n": 1, // one\n'),
}


@each(JSON)
@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_json_is_read_as_meant_or_fails(dialect: Dialect[str], slip: str) -> None:
    right, wrong = SLIPS[slip]
    text = written(dialect, FULL)
    assert right in text
    events = read(dialect, text.replace(right, wrong, 1))
    if tolerant(dialect):
        assert same(calls(events), [FULL])
    else:
        assert failed(events) == ["malformed"]
        assert not calls(events)


@each(JSON)
def test_quotes_that_are_not_escaped_make_no_other_call(dialect: Dialect[str]) -> None:
    more = dialect.traits.parallel and not dialect.traits.stops
    text = written(dialect, FULL)
    broken = text.replace('"text": "x"', '"text": "say "hi" now"', 1)
    if more:
        broken += "\n" + written(dialect, {"path": "b"})
    events = read(dialect, broken)
    assert failed(events) == ["malformed"]
    assert same(calls(events), [{"path": "b"}] if more else [])


@each([dialect for dialect in JSON if tolerant(dialect)])
def test_line_breaks_and_backslashes_in_strings_are_kept(dialect: Dialect[str]) -> None:
    text = written(dialect, FULL)
    for wrong, meant in (("l1\nl2", "l1\nl2"), ("C:\\Users\\me", "C:\\Users\\me"), ("\\d+", "\\d+")):
        events = read(dialect, text.replace('"text": "x"', f'"text": "{wrong}"', 1))
        assert same(calls(events), [FULL | {"text": meant}])


OTHER_BODIES = """
    qwen3-coder nemotron3 step3p5 mimo seed-oss minimax-m2 dots deepseek-v32 deepseek-v4 deepseek-v41 gigachat35 glm45
    glm47 ling3 spark25 poolside-v1 iquest-q1 hy-v3 hy-v3-suffix hy-v4 k2-horizon claude-legacy
    kimi-k3 cohere-xml minimax-m3 step3
"""


@pytest.mark.parametrize("name", OTHER_BODIES.split())
def test_a_json_object_where_elements_are_due_is_a_call(name: str) -> None:
    dialect = default_registry().dialect(name)
    assert dialect.syntax is not None
    form = dialect.syntax.forms[0]
    opener, _, closer = form.section.partition("{calls}")
    if not opener:
        opener = form.call.partition("{")[0]
        closer = opener.replace("<", "</")
    body = '{"name": "write", "arguments": {"path": "a"}}'
    for text in (f"{opener}{body}{closer}", f"Ok.\n{opener.strip()}\n{body}\n{closer.strip()}", f"{opener}{body}"):
        events = read(dialect, text)
        assert same(calls(events), [{"path": "a"}])
        assert not failed(events)


SECTIONS = {
    "hermes": "<tool_calls>",
    "qwen25": "<tool_calls>",
    "exaone4": "<tool_calls>",
    "jamba": "<tool_call>",
    "apriel": "<tool_call>",
    "hunyuan-a13b": "<tool_call>",
    "minimax-m1": "<tool_call>",
    "granite3": "<tool_call>",
    "kimi-k2": "<|tool_call_section_begin|>",
    "deepseek-v4": "<｜DSML｜toolcalls>",
    "deepseek-v32": "<｜DSML｜tool_calls>",
}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_known_by_its_singular_and_plural(name: str) -> None:
    dialect = default_registry().dialect(name)
    assert dialect.syntax is not None
    opener, _, closer = (part.strip() for part in dialect.syntax.forms[0].section.partition("{calls}"))
    other = SECTIONS[name]
    end = other.replace("begin", "end") if "begin" in other else other.replace("<", "</")
    text = written(dialect, FULL).replace(opener, other, 1)
    text = text.removesuffix(closer) + end if closer else text + end
    events = read(dialect, text)
    assert same(calls(events), [FULL])
    assert not [event for event in events if isinstance(event, TextDelta)]
