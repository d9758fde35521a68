"""An answer as a grammar: reasoning, text and calls, as a choice of tools allows them.

    auto        reasoning? text calls?
    required    reasoning? calls
    none        reasoning? text

A requested output replaces the text, with nothing beside it. Text may not contain the beginning of one of the
dialect's markers, so that the parser finds the calls of the grammar and no others. The answer ends with its calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolfmt.dialect.frames import Frame, Route
from toolfmt.dialect.record import AnyDialect
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import UnrepresentableError
from toolfmt.model import ToolDefinition
from toolfmt.schema.expressions import ExpressionError
from toolfmt.workshop.grammars import nodes
from toolfmt.workshop.grammars.calls import CallNodes
from toolfmt.workshop.grammars.markers import call_openers, loosely, text_markers
from toolfmt.workshop.grammars.patterns import header_node

CallChoice: TypeAlias = Literal["auto", "required", "none"]
_BLANKS: Final = nodes.Repeat(nodes.BLANK, 0, 8)


@dataclass(slots=True)
class Answer:
    """All answers that a model may give, for any target."""

    reasoning: nodes.Node
    """A block of reasoning with the white space after it; nothing if the dialect has none."""
    text: nodes.Node
    """Text before the calls; it may be empty."""
    alone: nodes.Node
    """An answer without calls."""
    calls: nodes.Node | None
    section: nodes.Node | None
    """One section of calls."""
    rules: nodes.GrammarRules
    relaxed: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    closed: bool = False
    """Members that no schema names were left out, as requested."""
    must: bool = False
    """The answer has calls."""
    most: int | None = None
    """The largest number of calls; None for any number."""
    framed: bool = False
    """Its parts are messages with headers."""
    body: nodes.Node = field(init=False)
    """The whole answer; `rules` are what it refers to."""

    def __post_init__(self) -> None:
        """Put the parts together."""
        parts: list[nodes.Node] = []
        if not self.must:
            parts.append(self.alone)
        if self.calls is not None:
            parts.append(nodes.sequence(self.text, self.calls))
        begun = [nodes.sequence(self.reasoning, part) for part in parts] if self.reasoning != nodes.NOTHING else []
        self.body = nodes.either(*parts, *begun)


def answer(  # noqa: PLR0913 - each is a choice of the caller's
    dialect: AnyDialect,
    tools: Sequence[ToolDefinition],
    *,
    choice: CallChoice,
    most: int | None,
    reasons: bool,
    offered: Sequence[str],
    closed: bool = False,
    output: ToolDefinition | None = None,
) -> Answer:
    """Make the grammar of an answer; `offered` are the names of all tools.

    There are at most `most` calls, None for any number, after reasoning if `reasons`. With an `output`, text is a JSON
    value that fits its parameters. `closed` leaves out unbounded members that no schema names. Raises
    `UnrepresentableError` for a dialect that no grammar can describe.
    """
    syntax = dialect.syntax
    if syntax is None:
        raise UnrepresentableError(
            dialect.name, "", "its calls are objects of an API and no text: the server makes the grammar itself"
        )
    rules: nodes.GrammarRules = {}
    writer = CallNodes(dialect.name, syntax, rules, offered, closed)
    calls, section = writer.all_calls(tools, most=most) if choice != "none" else (None, None)
    must = choice == "required"
    if syntax.frame is not None:
        kinds = {*(["reasoning"] if reasons else []), *([] if must else ["text"])}
        before, alone = frame_messages(syntax.frame, kinds, None if output is None else writer.output(output))
        text = before
        reasoning: nodes.Node = nodes.NOTHING
    else:
        markers = tuple(text_markers(syntax, offered))
        alone = nodes.without(*markers) if output is None else writer.output(output)
        bare = must or output is not None or not dialect.traits.text_around
        text = nodes.NOTHING if bare else _before_calls(syntax, alone)
        reasoning = _reasoning(syntax, offered) if reasons else nodes.NOTHING
    return Answer(
        reasoning=reasoning,
        text=text,
        alone=alone,
        calls=calls,
        section=section,
        rules=rules,
        relaxed=tuple(writer.relaxed),
        narrowed=tuple(writer.narrowed),
        closed=bool(writer.closed),
        must=must,
        most=1 if syntax.single else most,
        framed=syntax.frame is not None,
    )


def _before_calls(syntax: Syntax, text: nodes.Node) -> nodes.Node:
    """Text before a call: where markers count only at the beginning of a line, it ends with a line break."""
    lines = syntax.lines or any(form.offered and form.call.startswith("{name}") for form in syntax.forms)
    return nodes.either(nodes.NOTHING, nodes.sequence(text, nodes.Lit("\n"))) if lines else text


def _reasoning(syntax: Syntax, offered: Sequence[str]) -> nodes.Node:
    """A block of reasoning in any of its pairs of markers, and white space after it."""
    found: list[nodes.Node] = []
    for opener, closer in syntax.reasoning:
        end = loosely(closer, ignore_case=syntax.ignore_case) if closer else None
        never = [end] if end is not None else text_markers(syntax, offered)
        never += [node for opening, _ in syntax.unwrap if not closer and (node := loosely(opening)) is not None]
        if syntax.calls_in_reasoning == "call":
            never += call_openers(syntax, offered)
        body = nodes.Meet((nodes.ANYTHING,), tuple(map(nodes.containing, never)))
        found.append(nodes.sequence(nodes.Lit(opener.strip()), body, nodes.Lit(closer.strip() or "\n")))
    if not found:
        return nodes.NOTHING
    return nodes.sequence(nodes.Alt(tuple(found)) if len(found) > 1 else found[0], _BLANKS)


_BEGUN: Final = re.compile(r"^\(\?:[^()]*\)\?")
"""The part of a header that the prompt or the previous message has written."""
_SAID: Final = frozenset({"text", "reasoning"})


def frame_messages(
    frame: Frame, kinds: Collection[str], text: nodes.Node | None = None
) -> tuple[nodes.Node, nodes.Node]:
    """Return messages of these kinds, text or reasoning: those before a call's header, and an answer without calls.

    With `text`, that is the only message of text, and the last one.
    """
    if text is not None:
        before, _ = frame_messages(frame, {*kinds} - {"text"})
        return before, nodes.sequence(before, nodes.either(*_headers(frame, {"text"})), text, _ending(frame))
    markers = tuple(nodes.Lit(marker) for marker in (*frame.ends, frame.start, *frame.opens))
    headers = _headers(frame, kinds)
    body = nodes.without(*markers)
    message = nodes.sequence(nodes.either(*headers), body) if headers else body
    before = nodes.Repeat(nodes.sequence(message, _between(frame)), 0, 4) if headers else nodes.NOTHING
    return before, nodes.sequence(before, message, _ending(frame))


def _headers(frame: Frame, kinds: Collection[str]) -> list[nodes.Node]:
    """Return the headers of messages of these kinds, as far as they can be written."""
    return [node for route in frame.routes if route.to in kinds and (node := _header(frame, route, kinds)) is not None]


def _ending(frame: Frame) -> nodes.Node:
    return nodes.maybe(nodes.Lit(frame.last or frame.ends[0])) if frame.ends else nodes.NOTHING


def _between(frame: Frame) -> nodes.Node:
    """Return what ends a message of text and begins the next header."""
    rest = next((frame.between.removeprefix(end) for end in frame.ends if frame.between.startswith(end)), frame.between)
    return nodes.Lit((frame.ends[0] if frame.between != rest else "") + rest)


def _header(frame: Frame, route: Route, kinds: Collection[str]) -> nodes.Node | None:
    """Return the headers of a route; None if its words are not known."""
    header = {"channel": route.channel, "recipient": route.recipient, "content": route.content}
    words = {key: "" if word == "*" and key != "channel" else word for key, word in header.items()}
    route = frame.route({key: word for key, word in words.items() if word not in ("", "*")})
    if route.to not in _SAID or "*" in words["recipient"]:
        return None
    never = sorted({other.channel for other in frame.routes if other.to not in kinds} - {"*", route.channel})
    try:
        return header_node(_BEGUN.sub("", frame.header), words, never)
    except ExpressionError:
        return None
