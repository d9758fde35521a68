r"""Answers with one slip in them, as models write them: a closer left out, a quotation that breaks, a cut.

    <tool_call>{"name": "a", "arguments": {}}
    <tool_call>{"name": "b", "arguments": {}}</tool_call>     the first `</tool_call>` is left out

Each is made from what a dialect writes, so that a new format is covered as soon as it is registered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from os.path import commonprefix
from typing import TYPE_CHECKING

from toolfmt.dialect.syntax import WILD
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd, CallFailed, Notice, TextDelta
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.workshop.testing import laws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.dialect.record import Dialect
    from toolfmt.dialect.syntax import Form, Syntax
    from toolfmt.model import JsonObject

FIRST, LAST = "BEGIN:\n", "\n:END"
"""What a quotation is put between, so that it is found again in what was written."""
_TAG = re.compile(r"(?:\]<\]\w+\[>\[)?<[^<>]+>|\[/?[A-Z_]+\]|`{3,}")
"""A marker: a tag, with the token before it where that is one of a tokenizer's own."""
_SLOT = re.compile(r"\{(?:calls|call|args|members|payload|yaml|value)\}")
_MARK = re.compile(r"[<\[✿]")
_MARKED = re.compile(r"<[^<>\s]*[^<>]*>|\[/?[A-Z_]{3,}\]")
_PIECE = re.compile(r"""[{}\[\]()"':,=>/<]|`{3}""")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')


def tool(name: str, arguments: JsonObject) -> ToolDefinition:
    """A tool that takes exactly these arguments."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    properties = {key: {"type": kinds[type(value)]} for key, value in arguments.items()}
    return ToolDefinition(name=name, parameters={"type": "object", "properties": properties, "required": [*properties]})


def call(dialect: Dialect[str], name: str, arguments: JsonObject) -> ToolInvocation:
    """A call that the dialect can hold."""
    server = "local" if dialect.traits.carries_server else None
    return ToolInvocation(name=name, arguments=arguments, server=server)


def written(dialect: Dialect[str], calls: Sequence[ToolInvocation]) -> str | None:
    """What the dialect writes for the calls; None where it cannot hold them."""
    try:
        return dialect.calls(calls, {each.name: tool(each.name, each.arguments) for each in calls})
    except UnrepresentableError:
        return None


def in_prose(dialect: Dialect[str], text: str) -> str:
    """The text with words before and after it, where the dialect has room for them."""
    framed = dialect.syntax is None or dialect.syntax.frame is not None
    return text if framed else f"Let me look.\n{text}\nThat is all."


@dataclass(frozen=True, slots=True)
class Slip:
    """A text with something left out or put in, and what that was."""

    text: str
    what: str


def closers(syntax: Syntax) -> tuple[str, ...]:
    """The markers that close something in the form that is written, the longest first, whole and in parts."""
    form = syntax.forms[0]
    found: set[str] = set()
    for template in _templates(form):
        pieces = _SLOT.split(WILD.sub("", template))
        for piece in pieces[1:]:
            text = re.sub(r"\{\?|\?\}", "", piece).strip()
            found.update([text, *_TAG.findall(text)])
    if syntax.frame is not None:
        found.update(syntax.frame.ends)
    return tuple(sorted((text for text in found if text and "{" not in text), key=lambda text: (-len(text), text)))


def _templates(form: Form) -> Iterator[str]:
    yield form.section
    yield form.call
    elements = form.elements
    if elements is not None:
        yield from (elements.member, elements.item)
        if elements.wrapper:
            yield f"<{elements.wrapper}>{{value}}</{elements.wrapper}>"
        yield from (f"{opener}{{value}}{closer}" for opener, closer in elements.quotes)


def without_closers(dialect: Dialect[str], first: ToolInvocation, second: ToolInvocation) -> Iterator[Slip]:
    """Two calls, of which the first has one closing marker, tag or bracket too few."""
    text = written(dialect, [first, second])
    if text is None or dialect.syntax is None:
        return
    leading = str(next(iter(first.arguments.values())))
    start = text.index(leading) + len(leading)
    end = text.index(second.name)
    seen: set[tuple[int, int]] = set()
    for closer in closers(dialect.syntax):
        pattern = re.compile(r"\s*".join(map(re.escape, closer.split())))
        found = {match.span() for match in pattern.finditer(text, start, end)}
        whole = {span for span in found if not any(begin <= span[0] < stop for begin, stop in seen)}
        seen |= found if closer.startswith(("<", "`")) else whole
    covered = [*seen, *(match.span() for match in (*_STRING.finditer(text), *_TAG.finditer(text)))]
    for match in re.compile(r"[)\]}]").finditer(text, start, end):
        at = match.start()
        left = re.search(r"[)\]}]", _TAG.sub("", text[match.end() : end])) or any(begin > at for begin, _ in seen)
        if not any(begin <= at < stop for begin, stop in covered) and (left or text[at - 1] not in "\"'"):
            seen.add(match.span())  # right after a string, nothing but another closer tells that it has ended
    for begin, stop in sorted(seen):
        yield Slip(in_prose(dialect, text[:begin] + text[stop:]), f"{text[begin:stop]!r} at {begin}")


def quoting(dialect: Dialect[str], outer: ToolInvocation) -> Iterator[Slip]:
    """A call with a quotation between `FIRST` and `LAST`, and a fault outside it.

    Left out in turn is each quote, bracket and closer beside the quotation, and all escaping in it.
    """
    text = written(dialect, [outer])
    if text is None or dialect.syntax is None:
        return
    begin, end = text.index(FIRST[:-1]), text.index(LAST[1:]) + len(LAST) - 1
    raw = next(value for value in outer.arguments.values() if isinstance(value, str) and FIRST in value)
    if raw != text[begin:end]:
        yield Slip(text[:begin] + raw + text[end:], "the escapes")
    seen: set[tuple[int, int]] = set()
    for closer in closers(dialect.syntax):
        pattern = re.compile(r"\s*".join(map(re.escape, closer.split())))
        seen.update(match.span() for match in pattern.finditer(text, end))
    around = [*re.finditer(r"[\"'()\[\]{}]", text[:begin]), *re.compile(r"[\"'()\[\]{}]").finditer(text, end)]
    seen.update(match.span() for match in around)
    for start, stop in sorted(seen):
        yield Slip(text[:start] + text[stop:], f"{text[start:stop]!r} at {start}")


def opening(dialect: Dialect[str], one: ToolInvocation) -> int:
    """How many characters of a call may still be text: its marker's, or those before its first argument's value."""
    syntax, text = dialect.syntax, written(dialect, [one])
    if syntax is None or text is None:
        return 0
    form = syntax.forms[0]
    template = syntax.frame.call if syntax.frame is not None else form.section.replace("{calls}", form.call)
    marker = re.split(r"\{\??", template.lstrip(), maxsplit=1)[0].rstrip()
    if _MARK.search(marker) and not (form.offered or form.bare):
        before = 0 if syntax.frame is None else len(syntax.frame.between)
        return before + len(marker) + 2 * form.tentative
    return text.index(next(iter(one.arguments.values())))  # type: ignore[arg-type] - a string


_WORDS = (
    ("keys without quotes", r'"(\w+)"(?=\s*:)', r"\1"),
    ("quotes of Python", r'"([^"\n]*)"', r"'\1'"),
    ("words of Python", r"\btrue\b", "True"),
    ("words of JSON", r"\bTrue\b", "true"),
    ("a trailing comma", r"(?<=[\]\w\"])(?=\}|\))", ","),
    ("no comma", r",(?= ?[\"'\w])", ""),
    ("a comment", r"(?<=,)(?= )", " // note\n"),
    ("a colon for an equals sign", r"(?<=\w)=(?=[\w\"'\[])", ": "),
    ("an equals sign for a colon", r'"(\w+)": ', r"\1="),
    ("typographic quotes", r'"([^"\n]*)"', "“\\1”"),
)


def misspelt(text: str, values: Sequence[str]) -> Iterator[Slip]:
    """A call's text with one slip outside its values, which are text, as models make them."""
    held = [match.span() for match in re.finditer("|".join(map(re.escape, values)), text)]
    for match in _PIECE.finditer(text):
        if not any(start <= match.start() < end for start, end in held):
            yield Slip(text[: match.start()] + text[match.end() :], f"without {match.group()}")
    for match in _MARKED.finditer(text):
        tag, before, after = match.group(), text[: match.start()], text[match.end() :]
        yield Slip(before + after, "without a tag")
        word = re.search(r"\w{4,}", tag)
        if tag.startswith("</") and word is not None:
            yield Slip(before + tag[: word.start() + 2] + tag[word.start() + 3 :] + after, "a misspelt closer")
            yield Slip(before + tag[: word.end()] + "1" + tag[word.end() :] + after, "a closer with a digit")
            yield Slip(before + "<" + tag[2:] + after, "an opener for a closer")
        if '="' in tag:
            yield Slip(before + re.sub(r'="([^"]*)"', r"=\1", tag) + after, "an attribute without quotes")
    for what, pattern, new in _WORDS:
        changed = re.sub(pattern, new, text)
        if changed != text:
            yield Slip(changed, what)
    opened, closed = text.find("{"), text.rfind("}")
    if 0 <= opened < closed:
        fenced = f"\n```json\n{text[opened : closed + 1]}\n```\n"
        yield Slip(text[:opened] + fenced + text[closed + 1 :], "a fence")
    for match in _PIECE.finditer(text, max(0, len(text) - 24)):
        yield Slip(text[: match.start()], "a cut")


_OTHERS = dict(zip("<>()[]{}\"'=:/|,.", ")(][}{[]'\"-;\\!.,", strict=True))
"""What a character of markup is mistaken for."""


def damaged(text: str, held: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """A call's text with one character outside its values, names and keys wrong: what was done, where, and the text.

    A character is left out, doubled, mistaken for another one, or changes its place with the next one. Blanks stay:
    few formats give them a meaning.
    """
    words = rf"(?<![a-z])(?:{'|'.join(map(re.escape, sorted(held, key=len, reverse=True)))})(?![a-z])"
    kept = {at for match in re.finditer(words, text) for at in range(*match.span())}
    for at, char in enumerate(text):
        if at in kept or char.isspace():
            continue
        before, after = text[:at], text[at + 1 :]
        yield "left out", at, before + after
        yield "doubled", at, before + char + char + after
        yield "mistaken", at, before + _OTHERS.get(char, "y" if char == "x" else "x") + after
        if after and at + 1 not in kept and not after[0].isspace() and after[0] != char:
            yield "swapped", at, before + after[0] + char + after[1:]
    for match in _MARKED.finditer(text):
        yield "no tag", match.start(), text[: match.start()] + text[match.end() :]


def no_wrong_call(
    dialect: Dialect[str], text: str, meant: Sequence[ToolInvocation], tools: Sequence[ToolDefinition] = ()
) -> list[ToolInvocation]:
    """Whatever is wrong with a text, the calls that are read are some of those that were meant, in order."""
    found = laws.calls(dialect, text, tools)
    left = iter(meant)
    for call in found:
        assert any(laws.same(call, other) for other in left), (
            f"{dialect.name}: in {text!r} a wrong call {call.name} {call.arguments}"
        )
    return found


def closer_left_out(
    dialect: Dialect[str], text: str, calls: Sequence[ToolInvocation], tools: Sequence[ToolDefinition]
) -> None:
    """Of two calls the first has no closer: none is read wrong, the second is read, the text around is kept."""
    where = f"{dialect.name}: in {text!r}"
    found = no_wrong_call(dialect, text, calls, tools)
    events = laws.read(dialect, [text], tools)
    assert found and laws.same(found[-1], calls[-1]), f"{where} the second call is not read: {events}"  # noqa: PT018 - one fact
    failed = any(isinstance(event, CallFailed) for event in events)
    assert len(found) == len(calls) or failed, f"{where} the first call is dropped in silence"
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    said += "".join(event.detail for event in events if isinstance(event, Notice))  # no text of a turn that has ended
    for line in (text.partition("\n")[0], text.rpartition("\n")[2]):
        plain = re.fullmatch(r"[\w ]+\.", line)
        assert not plain or line in said, f"{where} the text {line!r} is lost: {events}"


def beginning(dialect: Dialect[str], text: str, at: int, opening: int, tools: Sequence[ToolDefinition] = ()) -> None:
    """A valid answer cut at any place: its calls so far, its text so far, and a failure for the call that was cut.

    Fewer than `opening` characters of a call may be text.
    """
    whole = laws.read(dialect, [text], tools)
    spans = [event.span for event in whole if isinstance(event, CallEnd)]
    said = "".join(event.text for event in whole if isinstance(event, TextDelta))
    events = laws.read(dialect, [text[:at]], tools)
    where = f"{dialect.name}: cut as {text[:at]!r}"
    laws.truncated(dialect, text, [at], tools)
    failed = [event for event in events if isinstance(event, CallFailed)]
    assert all(event.reason == "truncated" for event in failed), f"{where} {failed}"
    part = "".join(event.text for event in events if isinstance(event, TextDelta))
    start = max((end for _, end in spans if end <= at), default=0)
    inside = next((span for span in spans if span[0] < at < span[1]), None)
    if not said.startswith(part):
        leaked = part[len(commonprefix([said, part])) :].strip()  # noqa: RUF071 - of texts, not of paths
        begun = text[inside[0] if inside else start : at].strip()
        assert leaked == begun[-len(leaked) :], f"{where} {leaked!r} is text, not {begun!r}"
        assert len(begun) < opening, f"{where} the marker leaks: {leaked!r}"
    if inside is not None and len(text[inside[0] : at].strip()) >= opening:
        ended = any(isinstance(event, CallEnd) and event.span[0] == inside[0] for event in events)
        assert failed or ended, f"{where} no failure: {events}"
