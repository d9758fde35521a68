"""No call vanishes: one with a slip is read, fails, or is reported with what is wrong, named and detected."""

from __future__ import annotations

import html
import re
import string
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import toolfmt
from tests import slips
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.events import CallEnd, CallFailed, Notice, coalesce
from toolfmt.lookup import registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

ARGUMENTS = {"city": "Oslo", "days": 2, "metric": True}
TOOLS = [slips.tool("get_weather", ARGUMENTS), slips.tool("note", {"text": "a"})]
MARK = re.compile(r"<[^<>\s][^<>]*>|\[/?[A-Z_]{3,}\]")
ALIKE = [
    ("blanks for U+2581", lambda mark: mark.replace("\u2581", " ")),
    ("underscores for U+2581", lambda mark: mark.replace("\u2581", "_")),
    ("ASCII bars", lambda mark: mark.replace("\uff5c", "|")),
    ("ASCII bars and blanks", lambda mark: mark.replace("\uff5c", "|").replace("\u2581", " ")),
    ("full-width bars", lambda mark: mark.replace("|", "\uff5c")),
    ("no bars", lambda mark: mark.replace("|", "").replace("\uff5c", "")),
    ("lower case", str.lower),
    ("upper case", lambda mark: mark if "get_weather" in mark else re.sub(r"^</?[^\s=>]+", _upper, mark)),
    ("no underscores", lambda mark: mark if "get_weather" in mark else mark.replace("_", "")),
    ("full-width brackets", lambda mark: _wide(mark, "<>[]/")),
    ("full-width markers", lambda mark: _wide(mark, string.printable)),
    ("invisible characters", lambda mark: f"{mark[:2]}\u200b{mark[2:]}"),
    ("a byte order mark", lambda mark: f"{mark[0]}\ufeff{mark[1:-1]}\xad{mark[-1]}"),
    ("entities", lambda mark: html.escape(mark, quote=False)),
    ("backslashes", lambda mark: re.sub(r"[<>\[\]_]", r"\\\g<0>", mark)),
    ("doubled brackets", lambda mark: f"{mark[0]}{mark}{mark[-1]}"),
    ("angle quotation marks", lambda mark: f"\u2039{mark[1:-1]}\u203a"),
    ("blanks in brackets", lambda mark: f"{mark[0]} {mark[1:-1]} {mark[-1]}"),
]
SLIPS = [
    ("a trailing comma", r"(?<=[\w\"])(?=\}|\))", ","),
    ("single quotes", r'"([^"\n]*)"', r"'\1'"),
    ("a word of Python", r"\btrue\b", "True"),
    ("a raw newline", "Oslo", "Os\nlo"),
    ("keys without quotes", r'"(\w+)"(?=\s*:)', r"\1"),
    ("typographic quotes", r'"([^"\n|]*)"', "\u201c\\1\u201d"),
    ("doubled braces", r"[{}]", r"\g<0>\g<0>"),
    ("an attribute for the name", r"<([\w:|\uff5c]+)=(\w+)>", r'<\1 name="\2">'),
    ("an odd attribute", r' name="', ' nme="'),
    ("a misspelt argument's tag", r"(?<=[</])param", "parma"),
    ("a misspelt tag", r"(?<=[</\[|\uff5c])(?!get)([A-Za-z])([A-Za-z])([A-Za-z])(?=\w)", r"\1\3\2"),
]


def _wide(mark: str, chars: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if char in chars and "!" <= char <= "~" else char for char in mark)


def _upper(mark: re.Match[str]) -> str:
    return mark.group().upper()


def slipped(text: str) -> Iterator[tuple[str, str]]:
    """A call's text with one kind of slip, and what that is."""
    for what, change in ALIKE:
        yield what, MARK.sub(lambda mark, change=change: change(mark.group()), text)
    for what, pattern, instead in SLIPS:
        yield what, re.sub(pattern, instead, text)


@pytest.mark.parametrize("choice", ["named", "auto"])
def test_a_call_with_a_slip_never_vanishes(dialect: Dialect[str], choice: str) -> None:
    text = slips.written(dialect, [slips.call(dialect, "get_weather", ARGUMENTS)])
    assert text is not None
    for what, answer in slipped(text):
        name = dialect.name if choice == "named" else "auto"
        result = toolfmt.parse(answer, dialect=name, tools=TOOLS)
        noticed = [event for event in result.events if isinstance(event, CallEnd | CallFailed)]
        noted = [one for one in result.notices if one.kind in {"unread_call", "stray_header"}]
        assert noticed or noted, f"{what}: {answer}"
        stream = list(toolfmt.parse_stream(answer, dialect=name, tools=TOOLS))
        assert tuple(coalesce(stream)) == result.events, what
        assert not (result.calls and result.hint), what
        assert result.hint or noticed or noted[0].kind == "stray_header", what


HEADER = "<|channel|>commentary to=functions.note <|constrain|>json<|message|>"
BEAM = ' to=note<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name="text">\na\n</rfl:parameter><|call|>'


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("harmony", HEADER.replace("|>json", "|>>json") + '{"text": "a"}<|call|>'),
        ("harmony", "<|start|>assistant" + HEADER.replace("<|channel|>", "**<|channel|>**") + '{"text": "a"}<|call|>'),
        ("harmony", "<|start|>assistant" + HEADER.replace("<|constrain|>", "]") + '{"text": "a"}<|call|>'),
        ("inkling", '<|message_model|>note<think>{"name": "note", "args": {"text": "a"}}<|end_message|>'),
    ],
)
def test_a_broken_header_that_names_a_tool_is_that_of_a_failed_call(dialect: str, answer: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
    assert [failure.name for failure in result.failures] == ["note"]
    assert not result.calls
    assert tuple(coalesce([*toolfmt.parse_stream(iter(answer), dialect=dialect, tools=TOOLS)])) == result.events


@pytest.mark.parametrize("words", ["Let me do that.\n", "Sure. ", "Close it with </b>: "])
def test_a_header_after_words_is_read(words: str) -> None:
    for dialect, answer in (("beam", BEAM), ("harmony", f" to=functions.note<|message|>{{{NOTE}}}<|call|>")):
        result = toolfmt.parse(words + answer, dialect=dialect, tools=TOOLS)
        assert [call.arguments for call in result.calls] == [{"text": "a"}]
        assert result.text.strip() == words.strip()
        stream = toolfmt.parse_stream(iter(words + answer), dialect=dialect, tools=TOOLS)
        assert tuple(coalesce([*stream])) == result.events


NOTE = '"text": "a"'
DEEPSEEK = (
    "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>"
    'note\n```json\n{"text": "a"}\n```<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>'
)
HINTS = [
    (DEEPSEEK.replace("\u2581", " "), "write <\uff5ctool\u2581calls\u2581begin\uff5c> instead of"),
    (DEEPSEEK.replace("\uff5c", "|"), "it looks like deepseek-v3, and a marker is misspelt"),
    ('{"name": "note", "parameters": {"text": "a",}}', "give dialect='llama3-json'"),
    ("{'name': 'note', 'parameters': {'text': 'a'}}", "give dialect='llama3-json'"),
    ('<toolcall>{"name": "note", "arguments": {"text": "a"}}</toolcall>', "write <tool_call> instead of '<toolcall>'"),
    ('[TOOL_CALLS][note(text="a")]', "'[TOOL_CALLS]' is a marker of mistral-v3"),
    ('[TOOL_CALLS][{{"name":"note","arguments":{{"text":"a"}}}}]', "mistral-v3: write { and } instead of {{ and }}"),
    ('{name: "note", parameters: {text: "a"}}', "it looks like llama3-json: write keys in double quotes"),
    ('<tool><name>note</name><arguments><arg name="text">a</arg></arguments></tool>', "'<tool>' is a marker of"),
    ('<tool_call>note(text="a")</tool_call>', "'<tool_call>' is a marker of"),
    ('<tool_call name="note">{"text": "a"}</tool_call>', "is a marker of"),
    ('I note it.\n```tool_code\nprint(note(text="a"))\n```', "it looks like Python calls in a code fence"),
    ('```python\nnote(text="a")\nnote(text="b")\n```', "it looks like Python calls in a code fence"),
]


@pytest.mark.parametrize(("answer", "hint"), HINTS)
def test_what_is_detected_as_no_format_names_one(answer: str, hint: str) -> None:
    events = list(toolfmt.parse_stream([answer], tools=TOOLS))
    (noted,) = [event for event in events if isinstance(event, Notice)]
    assert noted.kind == "unread_call"
    assert hint in noted.detail
    assert toolfmt.parse(answer, tools=TOOLS).hint == noted.detail


def test_a_misspelt_marker_of_a_shape_that_no_other_format_has_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_default", registry._Default())
    call = "[[CALL {name} {args}]][[/CALL]]"
    hermes = toolfmt.default_registry().dialect("hermes")
    toolfmt.register(replace(hermes, name="brackets", aliases=(), syntax=Syntax(forms=(Form(call=call),))))
    for choice in ("hermes", "auto"):
        (noted,) = toolfmt.parse('[[CLL note {"text": "a"}]][[/CLL]]', dialect=choice, tools=TOOLS).notices
        assert noted.kind == "unread_call"


def test_the_key_of_another_format_is_named() -> None:
    answer = '{"tool": "note", "parameters": {"text": "a"}}'
    assert toolfmt.parse(answer, dialect="llama3-json", tools=TOOLS).hint == 'write the key "name" instead of "tool"'
    assert "not as pythonic writes it" in toolfmt.parse('r = note(text="a")', dialect="pythonic", tools=TOOLS).hint


@pytest.mark.parametrize(
    "answer",
    [
        "&lt;tool_call&gt;\n&lt;function=note&gt;\n&lt;parameter=text&gt;\na\n&lt;/parameter&gt;\n&lt;/tool_call&gt;",
        "<tools>\n<note>\n<text>a</text>\n</note>\n</tools>",
        "<tools><note><text>a</text></note></tools>",
        '<|channel|(commentary to=functions.note <|constrain|>json<|message|>{"text": "a"}<|call|>',
        '<tool_calls>>[{"name": "note", "arguments": {"text": "a"}}]</tool_calls>',
    ],
)
def test_a_tool_whose_arguments_are_named_in_markup_is_reported(answer: str) -> None:
    for dialect in ("auto", "hermes"):
        result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
        assert result.failures or [one for one in result.notices if one.kind == "unread_call"]
    said = toolfmt.parse('To call note you have to give it a <text>, as "text".', tools=TOOLS)
    assert not [*said.notices, *said.failures]


@pytest.mark.parametrize(
    ("dialect", "answer", "hint"),
    [
        ("hermes", "<note>\n<text>a</text>\n</note>", "give dialect='morph-xml'"),
        ("react", "<note>\ntext: a\n</note>", "give dialect='yaml-xml'"),
        ("hermes", '<TOOLCALL>[{"name": "note", "arguments": {"text": "a"}}]</TOOLCALL>', "as nemotron-v2 writes it"),
        ("react", '```tool_code\nnote(text="a")\n```', "dialect='pythonic'"),
    ],
)
def test_an_answer_of_another_format_than_the_chosen_one_names_that(dialect: str, answer: str, hint: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
    (noted,) = result.notices
    assert (noted.kind, result.hint) == ("unread_call", noted.detail)
    assert hint in noted.detail


def test_calls_in_a_fence_are_named_without_tools_if_the_fence_is_no_languages() -> None:
    call = 'note(text="a")'
    assert "in a code fence" in toolfmt.parse(f"```tool_code\n{call}\n```", dialect="hermes").hint
    assert not toolfmt.parse(f"```python\n{call}\n```", dialect="hermes").hint
    assert not toolfmt.parse("```tool_code\nx = 1\n```", dialect="hermes").hint


@pytest.mark.parametrize("answer", ['print("note")', "A <tool_cal> and note.", "{note}: `note(...)`"])
def test_what_only_mentions_a_tool_is_not_reported(answer: str) -> None:
    for dialect in ("auto", "hermes", "llama3-json", "pythonic"):
        assert not toolfmt.parse(answer, dialect=dialect, tools=TOOLS).notices


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("mistral-v3", '`[TOOL_CALLS]`[{"name": "note", "arguments": {"text": "a"}}]'),
        ("qwen25", '<think>\n{"name": "note", "arguments": {"text": "a"}}\n</tool_call>'),
        ("llama3-builtin", '<|python_tag|>>note.call(text="a")'),
        ("nexus", 'Sure! Cll: note((text="a")<bot_end>'),
    ],
)
def test_a_call_that_became_text_or_open_reasoning_is_reported(dialect: str, answer: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
    assert result.calls == ()
    assert result.failures or "unread_call" in {one.kind for one in result.notices}
    assert tuple(coalesce([*toolfmt.parse_stream([*answer], dialect=dialect, tools=TOOLS)])) == result.events


def test_closed_reasoning_is_not_searched() -> None:
    answer = '<think>\n{"name": "note", "arguments": {"text": "a"}}\n</think>No.'
    assert not [
        one for one in toolfmt.parse(answer, dialect="qwen25", tools=TOOLS).notices if one.kind == "unread_call"
    ]


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("gemma4", '<|tool_call>call:note{text:&lt;|"|>a<|"|>}<tool_call|>'),
        ("functiongemma", "<start_function_call>call:note{text:&lt;escape&gt;a<escape>}<end_function_call>"),
        ("qwen3-coder", "<tool_call>\n<function=note>\n<parameter=text>\na<think>\n</function>\n</tool_call>"),
        ("hy-v4", "<tool_calls><tool_call>note<arg_key>text</arg_key><arg_value>a<think></tool_call></tool_calls>"),
        ("llama3-builtin", '<|python_tag|>note.call(text="a")b", text="c")'),
    ],
)
@pytest.mark.parametrize("repair", [False, True])
def test_markup_in_the_place_of_a_quote_or_closer_is_no_part_of_a_value(
    dialect: str, answer: str, *, repair: bool
) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS, repair=repair)
    assert [call.arguments for call in result.calls] in ([], [{"text": "a"}])
    assert result.failures
