"""Reads one call of a form: its head, its body and its tail, and handles mistakes in them.

<tool name="read">            head: contains the name
<arguments>...</arguments>    body: determines where it ends
</tool>                       tail: expected after the body
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from toolfmt import jsontext
from toolfmt.dialect.syntax import PLAIN_NAME
from toolfmt.errors import RenderError
from toolfmt.model import CallProvenance, JsonObject
from toolfmt.parsers.bodies.by_schema import held_name, name_by_fit, without_brace
from toolfmt.parsers.bodies.call_lists import CallList
from toolfmt.parsers.bodies.claims import Strays, misnamed, refuse_mended
from toolfmt.parsers.bodies.elements import ElementReader, skip_layout
from toolfmt.parsers.bodies.json_calls import CallObject
from toolfmt.parsers.bodies.json_values import decode, peek, read_value, skip_space, whole_value
from toolfmt.parsers.bodies.late_arguments import refuse_late
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar
from toolfmt.parsers.compiled.head_parts import HeadParts
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.reading.call_ends import (
    close_object,
    is_closer,
    note_part,
    refuse_argument,
    refuse_body,
    refuse_members,
    refuse_more,
    refuse_rest,
    skip_odd_closer,
    skip_second_head,
)
from toolfmt.parsers.reading.payload_calls import PayloadReader
from toolfmt.parsers.reading.skipping import Skipper
from toolfmt.parsers.scanning.cursor import NEVER, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import FENCE, GAP, Tag, cut_off, match_next, skip_cut
from toolfmt.parsers.scanning.raw_ends import Closer
from toolfmt.parsers.scanning.resuming import repeats
from toolfmt.parsers.scanning.sink import Draft, Sink
from toolfmt.schema import takes_none

_TAG = regex.compile(r"</?[^\s<>]{1,64}[\s>]")
_EMPTY_LIST = regex.compile(r"\[\s{0,64}\]")
_FENCE = regex.compile(rf"{GAP}{FENCE}")
_FENCE_END = regex.compile(rf"{GAP}`{{3,8}}+")
_CUT_NAME = regex.compile(PLAIN_NAME + r"\s{0,64}(?:<[^<>]{0,64})?")
_ODD_NAME = regex.compile(r"[^\w$]|[\w.:/\-$]*[^\w.:/\-$]").match
_MARKER = regex.compile(r"\[[A-Z_]{3,40}\]|<[|\uff5c/]|[|\uff5c]>").search
_NO_NAME = regex.compile(r"[*`&\\].*|[^\w.\-]+").fullmatch
_DRAFT_SLOTS = frozenset({"name", "id", "server", "agent"})


class CallReader:
    """Reads the calls of one parse, one at a time; `draft` is the current one."""

    def __init__(self, cur: Cursor, sink: Sink, skipper: Skipper) -> None:
        """Read from `cur` into `sink`."""
        self.cur = cur
        self.skipper = skipper
        self.sink = sink
        self.limits = sink.options.limits
        self.draft = Draft(sink, 0)
        self.provenance: CallProvenance = "marker"
        self.confirmed = True  # whether the candidate is certainly a call, and not text
        self.several = False  # whether the format writes each call of these in markers of its own
        self.named = ""  # the tool's name, if a header before the call contains it
        self._found: CallObject | None = None
        self.empty = False  # whether the call is a self-closing element
        self.strays = Strays(self.draft)

    def read(self, form: FormGrammar, start: int) -> Reading[JsonObject | None]:
        """Read one call from its head to its tail, without ending it; return None if a list of calls was read instead.

        Raises `Malformed` or `Truncated`; the caller then has to fail `draft`.
        """
        self.cur.deadline = start + self.limits.call_chars
        try:
            arguments = yield from self._read(form, start)
        except RenderError as error:  # a lone surrogate, which JSON text cannot contain
            raise Malformed("unsafe", str(error), self.cur.at) from None
        finally:
            self.cur.deadline = NEVER
        if form.shape is None:  # a JSON reader has already refused them
            draft = self.draft
            if detail := misnamed(arguments or {}, self.sink.options.tools.get(draft.name)):
                raise Malformed("unclaimed", detail, self.cur.at, whole=True)
            if not all(map(jsontext.encodable, (draft.name, draft.id or "", draft.server or "", draft.pieces.text()))):
                raise Malformed("unsafe", "a lone surrogate in the call", self.cur.at, start)
        if arguments is not None:  # each call of a list has been measured
            self.measure(start)
            tag = form.elements.member_tag if form.elements is not None else ""
            yield from refuse_late(self.cur, self.draft, arguments, form.begins, tag, lines=form.body == "yaml")
        return arguments

    def meant(self, problem: Malformed | Truncated) -> bool:
        """Whether a failed call that may be plain text was clearly meant as a call: it is cut off in its arguments."""
        return problem.reason == "limit" if isinstance(problem, Malformed) else len(self.draft.pieces.text()) > 1

    def measure(self, start: int) -> None:
        """Refuse a call that exceeds the limit although its text was available before the deadline was set."""
        if self.cur.at - start > self.limits.call_chars:
            raise Malformed("limit", f"a call of more than {self.limits.call_chars} characters", self.cur.at)

    def _read(self, form: FormGrammar, start: int) -> Reading[JsonObject | None]:
        draft = self.draft = Draft(self.sink, start, self.provenance, confirmed=self.confirmed)
        self.note_several()
        self.strays = Strays(draft)
        self._found = None
        self.empty = False
        if form.parts is not None:
            return (yield from self._in_parts(form, form.parts))
        parameters = self._head(form)
        if self.cur.at >= self.cur.deadline:  # nothing of the body is emitted, as with text in pieces
            raise Malformed("limit", f"a call of more than {self.limits.call_chars} characters", self.cur.deadline)
        if self.empty:
            tool = self.sink.options.tools.get(draft.name)
            yield from refuse_body(self.cur, form, tool.parameters if tool else None)
            if not self.strays:
                draft.add("{}")
                return {}
        arguments = yield from self._body(form, parameters)
        if arguments is not None and form.form.name_in_id and not draft.name:
            name_by_fit(draft, arguments, self.cur.at)
        if arguments is not None and form.payload is not None:
            yield from PayloadReader(self.cur, draft, form).read(arguments)
        elif arguments is not None:
            yield from self._tail(form)
        self.strays.settle(None, None, self.cur.at)
        return arguments

    def _body(self, form: FormGrammar, parameters: JsonObject) -> Reading[JsonObject | None]:
        """Read the arguments; `parameters` are those from the head."""
        if form.body == "call":
            fence = yield from self._fence(_FENCE)
            if (peek(self.cur) or (yield from skip_space(self.cur))) == "[":
                yield from CallList(self, form).read()
                arguments = None
            else:
                arguments = yield from self._object(form)
                if arguments is None:
                    yield from PayloadReader(self.cur, self.draft, form).prose()
            if fence:
                yield from self._fence(_FENCE_END)
            return arguments
        if form.body == "args":
            return (yield from (self._args() if form.literals is None else self._literal_args(form.literals)))
        if form.elements is None and form.body != "yaml":
            return parameters
        return (yield from self._typed(form))

    def _fence(self, pattern: regex.Pattern[str]) -> Reading[bool]:
        """Read the code fence at the cursor, with a notice; return False if there is none."""
        fence = yield from match_next(self.cur, pattern)
        if fence is None:
            return False
        at, self.cur.pos = self.cur.at, fence.end()
        self.sink.note("code_fence", "a code fence inside the call's markers", (at, self.cur.at))
        return True

    def _in_parts(self, form: FormGrammar, parts: HeadParts) -> Reading[JsonObject | None]:
        """Read a call whose head has parts, some or all of which may come after the arguments."""
        draft, cur = self.draft, self.cur
        slots: dict[str, str] = {}
        while (yield from parts.read(cur, slots, self.strays)):
            draft.name = slots.get("name", "")
            draft.announce()
        if not draft.name:
            slots_after = dict(slots)
            yield from parts.read_behind(cur, slots_after, self.strays)
            draft.name = slots_after.get("name", "")
            draft.announce()
        if not draft.name:
            raise Malformed("missing_name", "the call names no tool", cur.at)
        arguments = yield from self._body(form, {})
        while (yield from parts.read(cur, slots, self.strays)):
            pass
        draft.id, draft.server = slots.get("id"), slots.get("server") or form.form.defaults.get("server")
        if slots.get("server") == "":
            draft.note("defaulted", f"the server's name is empty: it counts as {draft.server!r}", cur.at)
        yield from self._tail(form)
        return arguments

    def _typed(self, form: FormGrammar) -> Reading[JsonObject]:
        """Read arguments that are typed by the tool's schema."""
        tool = self.sink.options.tools.get(self.draft.name)
        schema = tool.parameters if tool else None
        if form.elements is None:
            from toolfmt.parsers.bodies.yaml_body import YamlBody

            body = YamlBody(self.draft, form.begins, self.limits)
            return (yield from body.arguments(self.cur, schema))
        yield from skip_second_head(self.cur, form.elements, self.draft)
        reader = ElementReader(
            form.elements, self.draft, self._closer_for(form, form.elements.tail), self.limits, self.strays
        )
        return (yield from reader.arguments(self.cur, schema, empty=self.empty))

    def _check_tag(self, form: FormGrammar, tag: Tag, end: int) -> None:
        name = tag.slots.get("name", "")
        odd = tag.odd or _NO_NAME(name) is not None or (form.literals is not None and _ODD_NAME(name) is not None)
        if odd and name not in self.sink.options.tools:
            raise Malformed("malformed", f"the tool's name holds markup: {name[:60]!r}", end)
        if _MARKER(tag.slots.get("id", "")):
            raise Malformed("malformed", "the call's id holds a marker", end)
        if tag.unquoted:
            self.draft.note("missing_close", "a quote in a tag is missing or of another kind", self.cur.at, end)

    def _head(self, form: FormGrammar) -> JsonObject:
        """Read the head, which matches its pattern; return the parameters in it."""
        draft, cur = self.draft, self.cur
        if form.head is None and not form.form.name:
            draft.name = self.named
            draft.announce()
            draft.server = form.form.defaults.get("server")
            return {}
        slots: dict[str, str] = dict(form.form.defaults)
        if form.head is not None:
            match = form.head_pattern.match(cur.buf, cur.pos)
            tag = form.head.read(match, escaped=form.escaped) if match is not None else None
            if match is None or tag is None:
                raise self._headless(form)
            declared = form.elements.declared if form.elements is not None else None
            if declared and declared.search(match.groupdict().get("attributes") or ""):
                raise Malformed("malformed", "a tool's definition, not a call", cur.base + match.end())
            self.empty = tag.empty
            self._check_tag(form, tag, cur.base + match.end())
            draft.opening = match.group().strip()
            for key, text in tag.strays:
                self.strays.add(key, text, (cur.at, cur.base + match.end()), on_call=True)
            cur.pos = match.end()
            slots.update(tag.slots)
        draft.name = form.form.name or slots.get("name", "")
        if form.form.name_in_id:
            draft.name = held_name(form.form.name_in_id, slots.get("id", ""), self.sink.options.tools)
        if self.named and draft.name != self.named:
            detail = f"the call names two tools: {self.named[:60]!r} and {draft.name[:60]!r}"
            raise Malformed("duplicate_key", detail, cur.at)
        draft.id, draft.server, draft.agent = slots.get("id"), slots.get("server"), slots.get("agent")
        draft.announce()
        further = {key: value for key, value in slots.items() if key not in _DRAFT_SLOTS}
        if form.body in {"", "payload"}:
            return further
        self.strays.add_slots(further, (draft.start, cur.at))
        return {}

    def _headless(self, form: FormGrammar) -> Malformed | Truncated:
        """Return the error of a call without a head; at the text's end, the head may have been cut off."""
        if self.cur.eof and form.head_pattern.fullmatch(self.cur.buf, self.cur.pos, partial=True):
            return Truncated()
        return Malformed("missing_name", "the call names no tool", self.cur.at)

    def _object(self, form: FormGrammar) -> Reading[JsonObject | None]:
        assert form.shape is not None and form.json is not None  # noqa: S101, PT018 - a `{call}` body always has both
        char = self.cur.buf[self.cur.pos : self.cur.pos + 1]
        if not char or (self.cur.eof and _CUT_NAME.fullmatch(self.cur.buf, self.cur.pos)):
            raise Truncated  # a name may have begun, as in another form of the call
        if char != "{":
            raise Malformed("malformed", f"expected an object, found {char!r}", self.cur.at)
        found = self._found = CallObject(form.json, self.draft, self.limits, CallList(self, form).element)
        found.deferred = form.payload is not None
        yield from found.read(self.cur, form.shape)
        return None if found.prose else found.checked(self.cur)

    def note_several(self) -> None:
        """Report that the call is one of several between markers that the format writes around one."""
        if self.several:
            self.draft.note("loose_form", "several calls, where the format writes one", self.draft.start)

    def unclosed(
        self, form: FormGrammar, problem: Malformed | Truncated, markers: regex.Pattern[str]
    ) -> Reading[JsonObject | None]:
        """Accept a JSON call that lacks only its last brace before a marker; return None if more is wrong."""
        cur, draft, found = self.cur, self.draft, self._found
        more = isinstance(problem, Truncated) or problem.reason != "malformed" or cur.at != problem.at
        if more or not form.quotes or not draft.name:
            return None
        again = cur.buf[cur.pos : cur.pos + 1] in {"{", ";"} and form.head is None and not form.form.array
        if not again and (yield from match_next(cur, markers)) is None:
            return None
        if not again and (yield from repeats(cur, draft.start)):
            return None
        if found is not None:
            arguments = found.without_brace(cur)
        else:
            arguments = without_brace(draft.pieces.text(), self.sink.options.tools.get(draft.name), self.limits)
            if arguments is not None:
                draft.add("}")
        if arguments is not None:
            draft.note("missing_close", "the closing brace of the call is missing", cur.at)
            try:
                yield from self._tail(form)
            except Malformed:
                return None
        return arguments

    def _args(self) -> Reading[JsonObject]:
        cur, draft = self.cur, self.draft
        if not (peek(cur) or (yield from skip_space(cur))):
            raise Truncated
        at = cur.at
        if cur.buf[cur.pos] == "{" and (whole := whole_value(cur, self.limits)) is not None:
            draft.add(whole[1])
            return whole[0]
        if cur.buf[cur.pos] != "{":
            none = yield from match_next(cur, _EMPTY_LIST)
            tool = self.sink.options.tools.get(draft.name)
            if none is not None and tool is not None and takes_none(tool.parameters):
                cur.pos = none.end()
                draft.note("defaulted", "the arguments are []: they count as {}", at, cur.at)
                draft.add("{}")
                return {}
            raise Malformed("arguments_not_object", f"expected an object, found {cur.buf[cur.pos]!r}", at)
        yield from read_value(cur, draft, self._note_function(at), self.limits, tolerant=True)
        arguments = decode(draft.pieces.text(), at, self.limits)
        refuse_mended(draft, arguments, cur.at)
        return arguments

    def _literal_args(self, literals: LiteralGrammar) -> Reading[JsonObject]:
        draft, at = self.draft, self.cur.at
        tool = self.sink.options.tools.get(draft.name)
        from toolfmt.parsers.bodies.literal_values import LiteralReader

        reader = LiteralReader(literals, self.cur, draft, self._note_function(at), self.sink.options)
        yield from reader.arguments(tool)
        return reader.checked(decode(draft.pieces.text(), at, self.limits))

    def _note_function(self, at: int) -> Callable[..., None]:
        def note(what: str, kind: str = "repaired_json", *, guessed: bool = False) -> None:
            self.draft.note(kind, what, at, guessed=guessed)

        return note

    def _closer_for(self, form: FormGrammar, tail: str) -> Closer:
        """Return the call's closer; for calls that are elements with tools' names, only the one of its name."""
        return Closer(tail, self.draft.name if form.form.offered else "")

    def _has_arguments(self) -> bool:
        """Whether the call is complete: an argument was closed, or its tool takes none."""
        tool = self.sink.options.tools.get(self.draft.name)
        return (tool is not None and not tool.parameters.get("properties")) or self.draft.pieces.text() != "{}"

    def _tail(self, form: FormGrammar) -> Reading[None]:
        cur = self.cur
        if form.endless:
            yield from close_object(cur, self.draft)
        if form.tail is None or form.body == "yaml" or self.empty:
            return  # there is no tail, or it was read with the body
        if form.body in {"call", "args"}:
            yield from self._tail_of_brackets(form, form.tail)
            return
        yield from skip_layout(cur, self.strays)
        end = yield from match_next(cur, form.tail)
        if end is None or not self._closer_for(form, form.tail.pattern).ends(end.group()):
            after = form.elements and (yield from match_next(cur, form.elements.after))
            again = after and after.group().lstrip().startswith(f"<{self.draft.name}/>")  # meant to close this one
            if form.elements and after and self._has_arguments() and not again:
                yield from refuse_rest(cur, form, form.elements, self.draft)
                self.draft.note("missing_close", "the call's closing marker is missing", cur.at)
                return
            if end is None and cut_off(cur, form.tail, *form.openers):
                raise Truncated
            odd = yield from match_next(cur, _TAG)
            found = cur.buf[cur.pos] if odd is None else odd.group().strip()
            detail = (yield from form.elements.without_value(cur)) if form.elements else ""
            detail = detail or f"expected an argument or the end of the call, found {found!r}"
            closes = "</" in form.form.call and (yield from is_closer(cur))
            early = form.elements and (yield from match_next(cur, form.elements.closer_before_value)) is not None
            inside = bool(again or early or not after) and (early or not closes)
            raise Malformed("malformed", detail, cur.at, inside=inside)
        if form.whole_tail.fullmatch(end.group()) is None:
            note_part(cur, form, self.draft, end)
        cur.pos = end.end()
        yield from refuse_argument(cur, form, self.draft)

    def _tail_of_brackets(self, form: FormGrammar, tail: regex.Pattern[str]) -> Reading[None]:
        """Read the closer of a call whose arguments end with their own bracket."""
        cur = self.cur
        extra = yield from match_next(cur, form.extra_tail)
        if extra is None:
            section_end = form.form.section.partition("{calls}")[2]
            yield from refuse_members(cur, section_end, tail, alone=form.body == "args")
            at, cut = cur.at, skip_cut(cur, form.extra_tail)
            self.draft.note(
                "missing_close", f"the call's closing marker is {'cut off' if cut else 'missing'}", at, cur.at
            )
            yield from skip_odd_closer(cur, self.draft.note, [form.form.call.rpartition("}")[2]], form.own)
            return
        if extra["extra"]:
            self.draft.note("repaired_json", "surplus closing brackets", cur.at)
        cur.pos = extra.end()
        yield from refuse_more(cur, form)
