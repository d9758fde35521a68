r"""Reads labelled lines as small models write them: ReAct's thoughts, actions and observations.

**Thought:** I must look.          bold, a heading, a number or a dash before a label
1. Action: `search_docs`           quotes, backticks or brackets around an offered tool's name
Action Input: {"query": "x"}       an object, perhaps in a code fence; what else is read: `step_inputs`
Action: search_docs("x")           the input after the name
Action: now                        no input, for a tool without arguments

A step in a code fence after other text is only quoted, and nothing counts after an answer's label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import ClassVar, Final

import regex

from toolfmt import jsontext
from toolfmt.dialect.record import ParserOptions
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.model import JsonObject
from toolfmt.parsers.compiled.cut_heads import CutHeads
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.compiled.sections import any_of
from toolfmt.parsers.reading.regions import TextParser
from toolfmt.parsers.reading.step_inputs import read_input
from toolfmt.parsers.scanning.cursor import NEVER, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import (
    FENCE,
    GAP,
    JSON_HINT,
    SLOT,
    Head,
    first_match,
    literal,
    match_next,
    search_on,
)
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import property_names

_LINE: Final = r"(?<![^\n])[ \t]{0,8}"
_BULLET: Final = r"(?:(?:#{1,6}|[\-*+]|[0-9]{1,2}[.)])[ \t]{1,4})?"
_BOLD: Final = (r"\*\*\*", r"\*\*", r"\*", "__", "_")
_OPEN: Final = r"[\"'`*\[<]{0,4}"
_SHUT: Final = r"[\"'`*\]>]{0,4}(?:\(\))?"
_REST: Final = re.compile(r"[ \t]*[`*.;]{0,4}[ \t]*")
_BRACKET: Final = re.compile(r"[ \t]?[(\[]")
_PAIRS: Final = {"(": ")", "[": "]", "{": "}"}
_TOKEN: Final = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|(?<!\w)'(?:[^'\\]|\\.)*+'(?!\w)|[()\[\]{}\"]|(?<!\w)'", re.DOTALL)
_FENCE_END: Final = regex.compile(rf"{GAP}`{{3,8}}+")
_FENCE_LAST: Final = re.compile(r"(?<!\s)\s*+`{3,8}\Z")
_NONE: Final = r"\W(?i:none|null|nothing|n/a)"
"""A step that names no tool on purpose."""
_PLAIN: Final = r"[\w.:/\-]{1,256}+"


def dressed(label: str, *, optional: str = "") -> str:
    """Compile a label with the decoration around it, before other text; `optional` is a word before it."""
    word = label.strip().rstrip(":")
    words = r"[ _]?".join(map(re.escape, word.split()))
    first = rf"(?:(?i:{re.escape(optional)})[ _])?" if optional else ""
    bold = rf"[*_]{{1,3}}{first}(?i:{words})"
    plain = rf"{first}{re.escape(word[0])}(?i:{words[1:]})"
    return rf"{_BULLET}(?:{bold}|{plain})(?:[ \t]?#?[0-9]{{1,3}})?[*_]{{0,3}}[ \t]?:[*_]{{0,3}}"


def framed(label: str) -> str:
    """Compile a label whose end must be certain at once: it ends with the bold marks that it began with."""
    word = label.strip().rstrip(":")
    words = r"[ _]?".join(map(re.escape, word.split()))
    number = r"(?:[ \t]?#?[0-9]{1,3})?"
    bold = [rf"{mark}(?i:{words}){number}(?:{mark}[ \t]?:|:{mark})" for mark in _BOLD]
    return rf"{_BULLET}(?:{'|'.join(bold)}|{re.escape(word[0])}(?i:{words[1:]}){number}[ \t]?:)"


class _CutSteps(CutHeads):
    """Recognises also a step at the end of an answer that names no offered tool."""

    def __init__(self, syntax: Syntax, head: Callable[[str], Head], flags: int, last: regex.Pattern[str]) -> None:
        super().__init__(syntax, head, flags)
        self._last = last

    def find(self, pattern: regex.Pattern[str], text: str, firsts: Iterable[re.Match[str]]) -> tuple[int, str] | None:
        """Find such a step, or another call that is cut off."""
        places = list(firsts)
        part = first_match(pattern, places, partial=True)
        found = self._last.match(text, part.start()) if part is not None and part.partial else None
        return super().find(pattern, text, places) if found is None else (found.start(), found["name"])


class StepSyntax(CompiledSyntax):
    """A compiled syntax of labelled lines, with the variants that small models write."""

    def __init__(self, syntax: Syntax, tools: Collection[str] = ()) -> None:
        """Compile the labels; names in `tools` may be quoted, and may have no input."""
        before, _, after = syntax.forms[0].call.partition("{name}")
        lines = syntax.forms[0].call.replace("{name}", "tool").replace("{args}", "{...}").split("\n")
        written = " and on the next line ".join(f"`{line}`" for line in lines)
        self.wanted, self.loose = f"expected {written}", f"a step that is not written as {written}"
        word = after.partition("{args}")[0].strip().rstrip(":")
        typed = before.strip().rstrip(":")
        names = any_of(tools)
        action = dressed(before) + r"[ \t]{0,64}"
        own = word.removeprefix(typed).strip() or word
        given = rf"[ \t]{{0,64}}\r?\n\s{{0,64}}{dressed(own, optional=typed)}"
        named = rf"{_OPEN}(?P<name>{names if tools else _PLAIN}){_SHUT}"
        called = rf"(?!{_OPEN}(?:{names if tools else _PLAIN})[ \t]?[(\[])"
        self._head_source = (
            rf"{action}(?:(?:{named}|{called}(?P<name>{SLOT})){given}|{named}[ \t]{{0,64}}:?)"
            rf"\s{{0,256}}(?:{FENCE})?(?=\{{)"
        )
        known = rf"(?P<name>{names})(?![\w\-]){_SHUT}|" if tools else ""
        alone = rf"|[ \t]?\[|(?<!{_NONE})[ \t]{{0,64}}\r?\n" if tools else ""  # an unknown name is an attempt too
        follows = rf"(?=[ \t]?\(|{given}{alone})"
        self._step = rf"{action}{_OPEN}(?:{known}(?P<name>{_PLAIN})[\"'`*\]>]{{0,4}}{follows})"
        self.step = regex.compile(rf"[ \t]{{0,8}}{self._step}")
        """Matches a step's line up to its tool's name, with the brackets of an empty call."""
        self.input = regex.compile(given)
        self.exact = regex.compile(rf"\s*{literal(before)}[ \t]*[^\n\"'`*\[\]<>()]+\s+{literal(word + ':')}\s*")
        """Matches the labels exactly as the prompt asks for them."""
        super().__init__(syntax, tools)
        if tools:
            last = rf"[ \t]{{0,8}}{action}{_OPEN}(?P<name>{_PLAIN})[\"'`*\]>]{{0,4}}(?<!{_NONE})[ \t]{{0,64}}\Z"
            self.cut_heads = _CutSteps(syntax, self._head, self.flags, regex.compile(last))
        others = [self.label(opener) for opener, _ in (*syntax.reasoning, *syntax.unwrap)]
        stops = [self.label(stop) for stop in syntax.stop]
        self.step_end = regex.compile(f"{_LINE}(?:{'|'.join([*others, *stops, dressed(before)])})")
        """Matches the label that ends a step's input."""
        self.wrapped_ends = [regex.compile(rf"(?={_LINE}(?:{'|'.join(stops) or '(?!)'}))") for _ in syntax.unwrap]
        self.fenced_bare = regex.compile(rf"[ \t]{{0,8}}{FENCE}{JSON_HINT}")
        self.fenced_step = regex.compile(
            rf"[ \t]{{0,8}}{FENCE}(?=[ \t]{{0,8}}(?:{'|'.join([*others, dressed(before)])}))"
        )
        self.fence_line = regex.compile(r"[ \t]{0,8}`{3,8}+[^\n`]{0,64}\n")
        self.fence = regex.compile(rf"{_LINE}`{{3,8}}+")
        self.first = re.compile(r"(?<![^\n])[^\n]|[`{\[]")
        self.stop = re.compile(r"[\n`{\[]").search

    def label(self, marker: str) -> str:
        """Compile a marker; a label may be decorated."""
        return framed(marker) if marker.endswith(":") else super().label(marker)

    def further_marks(self) -> Iterable[tuple[str, str]]:
        """Return the patterns of steps whose input is not an object, and of code fences."""
        return (("a0", self._step), ("f0", r"`{3,8}+"))

    def begin(self, form: Form) -> Head | None:
        """Compile a call's beginning: for the labelled form, its labels up to the object."""
        found = super().begin(form)
        return found if found is None else Head(self._head_source, {}, found.required)


class StepParser(TextParser):
    """Parses one answer of labelled lines."""

    def __init__(self, grammar: StepSyntax, options: ParserOptions) -> None:
        self._steps = grammar
        self._fenced = False
        """Whether the step is in a code fence."""
        super().__init__(grammar, options)

    def _with_object(self, found: regex.Match[str], group: str) -> Reading[None]:
        """Read a step whose input is an object, and the end of a code fence around the object."""
        cur, fenced = self._cur, "```" in found.group()
        loose = self._steps.exact.fullmatch(found.group()) is None
        if loose and self._sink.options.strict:
            cur.mark()
            draft, cur.pos = Draft(self._sink, cur.at), found.end()
            yield from self._recovery.failed(
                self._grammar.sections[0], draft, Malformed("malformed", self._steps.wanted, cur.at), cur.at
            )
            return
        if loose:
            self._sink.note("loose_form", self._steps.loose, (cur.at, cur.base + found.end()))
        yield from self._open_call(found, group)
        end = (yield from match_next(cur, _FENCE_END)) if fenced else None
        if end is not None:
            self._skip_fence(end.end())

    def _step(self, _: regex.Match[str], __: str) -> Reading[None]:
        """Read a step whose input is not an object."""
        cur, sink = self._cur, self._sink
        found = self._steps.step.match(cur.buf, cur.pos)
        if found is None or sink.full:
            sink.refuse(cur.at)
            return
        start = cur.at
        cur.mark()
        draft = Draft(sink, start, "fenced" if sink.prose.quotes_call() else "marker")
        draft.name = found["name"]
        cur.pos = found.end()
        body = cur.at
        cur.deadline = start + sink.options.limits.call_chars
        try:
            yield from search_on(cur, self._steps.step_end)
            cur.deadline = NEVER
            text = cur.since(body)
            arguments, end = self._input(draft.name, text, body, open_name=not found.group().endswith("()"))
        except (Malformed, Truncated) as problem:
            cur.deadline = NEVER
            reason, detail = self._cut(draft.name)
            wrong = problem if reason == "truncated" else Malformed(reason, detail, body)
            yield from self._recovery.failed(self._grammar.sections[0], draft, wrong, max(body, cur.at))
            return
        cur.go(end)
        draft.announce()
        draft.add(jsontext.dumps(arguments))
        taken = f"; its input was taken as {', '.join(map(repr, arguments))}" if arguments else ""
        guessed = (cur.eof and end == cur.end) or self._may_be_several(draft.name, arguments, text)
        draft.note("loose_form", self._steps.loose + taken, start, end, guessed=guessed)
        draft.end(arguments, end)
        cur.release()

    def _cut(self, name: str) -> tuple[str, str]:
        tools = self._sink.options.tools
        if not tools or any(tool.startswith(name) for tool in tools):
            return super()._cut(name)
        return "unknown_tool", f"no tool is called {name!r}"

    def _may_be_several(self, name: str, arguments: JsonObject, text: str) -> bool:
        """Whether a text read as one argument may be a list of several: `Paris, 2`."""
        tool = self._sink.options.tools.get(name)
        if tool is None or len(arguments) != 1 or len([*property_names(tool.parameters)]) == 1:
            return False
        ((key, value),) = arguments.items()
        return isinstance(value, str) and ("," in value or ";" in value) and key not in text

    def _input(self, name: str, text: str, at: int, *, open_name: bool) -> tuple[JsonObject, int]:
        """Read the arguments after the name, from `at`, and return where they end."""
        cur, options = self._cur, self._sink.options
        tool = options.tools.get(name)
        label = self._steps.input.match(text)
        if options.strict:
            raise Malformed("malformed", self._steps.wanted, at)
        bracket = _BRACKET.match(text)
        if label is None and bracket is not None:
            close = closing(text, bracket.end() - 1)
            after = None if close is None else _REST.match(text, close)
            if close is None or after is None or text[after.end() : after.end() + 1] not in {"", "\r", "\n"}:
                raise (Truncated if close is None and cur.eof else Malformed("malformed", self._steps.wanted, at))
            if self._steps.input.match(text, after.end()):
                raise Malformed("malformed", "the input is given twice", at)
            inside = text[bracket.end() : close - 1]
            return read_input(inside, tool, at + bracket.end(), options.limits, called=True), at + after.end()
        end = at + len(text.rstrip())
        begun = len(text) if label is None else label.end()
        value = self._labelled(text[begun:], at + begun)
        if value.strip():
            return read_input(value, tool, at + begun, options.limits, called=False), end
        if text.strip() and label is None:
            cut = self._steps.input.fullmatch(text, partial=cur.eof)
            raise Malformed("malformed", self._steps.wanted, at) if cut is None else Truncated
        empty = tool is not None and not any(property_names(tool.parameters))
        longer = open_name and label is None and any(other.startswith(name) for other in options.tools if other != name)
        if cur.eof and at + len(text) == cur.end and ((longer and not text) or not empty):
            raise Truncated  # more of the name or of the input may have followed
        if not empty:
            raise Malformed("missing_arguments", self._steps.wanted, at + begun)
        return {}, end

    def _labelled(self, value: str, at: int) -> str:
        """Return the text after the input's label without a fence's end; raises `Malformed` for a second label."""
        if self._steps.input.match(f"\n{value.strip()}"):
            raise Malformed("malformed", "the input's label is there twice", at)
        return _FENCE_LAST.sub("", value.rstrip()) if self._fenced else value

    def _code(self, _: regex.Match[str], __: str) -> Reading[None]:
        """Read a code fence: it is dropped around a step, and what it quotes after other text is text."""
        cur, sink, grammar = self._cur, self._sink, self._steps
        bare = yield from match_next(cur, grammar.fenced_bare)
        if bare is not None:
            yield from self._bare(bare, "")
            return
        opened = None if sink.has_text or self._fenced else (yield from match_next(cur, grammar.fenced_step))
        line = opened or (yield from match_next(cur, grammar.fence_line))
        if opened is not None:
            sink.prose.add(cur.buf[cur.pos : opened.end()])
            self._skip_fence(opened.end())
            self._fenced = True
            return
        end = cur.pos + len(cur.buf[cur.pos :]) if line is None else line.end()
        if self._fenced and not cur.buf[cur.pos : end].strip(" \t\r\n`"):
            sink.prose.add(cur.buf[cur.pos : end])
            self._skip_fence(end)
            self._fenced = False
            return
        sink.text(cur.buf[cur.pos : end], cur.at)
        cur.pos = end
        closed = (yield from self._find(grammar.fence)) if line is not None else None
        if closed is not None:
            sink.text(closed.group(), cur.at)
            cur.pos = closed.end()

    def _skip_fence(self, end: int) -> None:
        cur = self._cur
        self._sink.note("code_fence", "a code fence around a step", (cur.at, cur.base + end))
        cur.pos = end

    _handlers: ClassVar = {**TextParser._handlers, "a": _step, "c": _with_object, "f": _code}  # noqa: SLF001 - a subclass


def closing(text: str, at: int) -> int | None:
    """Return where the bracket at `at` is closed, outside quotes, or None."""
    open_brackets: list[str] = []
    for token in _TOKEN.finditer(text, at):
        char = token.group()
        if char in _PAIRS:
            open_brackets.append(_PAIRS[char])
        elif open_brackets and char == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return token.end()
        elif char in ")]}\"'":
            return None
    return None
