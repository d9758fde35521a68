"""Assembles events of text, reasoning and calls from the pieces of an API's answer.

    text("Let me look.")      -> TextDelta("Let me look.", 0)
    call(0, "f", "call_1")    -> CallStart(0, "f", "call_1")
    arguments(0, '{"a": ')    -> ArgumentsDelta(0, '{"a": ')
    end(0)                    -> CallEnd, or CallFailed if the arguments are not a JSON object

The same events as those of a text parser; positions count the characters of the text and the reasoning.
If an API does not mark a call's end, a call whose arguments are a complete object ends when something else
follows, before the answer's end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import SIGNATURE
from toolfmt.errors import LimitExceededError, ParseError, UnsafeInputError
from toolfmt.events import API, ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, Notice, ReasoningDelta, TextDelta
from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Cited, Proof, Usage
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.answering.known_fields import Chosen, Fields, dotted, unread
from toolfmt.transcripts.answering.partial_arguments import PartialArguments
from toolfmt.transcripts.parts.endings import STOPS, UNFINISHED, Stop
from toolfmt.transcripts.parts.values import json_text

ArgumentsForm: TypeAlias = Literal["json", "value", "text"]
"""The form of arguments: JSON text, which shows its own end; or a value or free text, which ends only with the
call."""


ENDINGS: Final[Mapping[Stop, str]] = {"length": "cut_off", "content_filter": "blocked", "unstated": "no_reason"}
"""The notices of answers that a limit or a filter ended, or that ended without a reason."""
_DROPPED: Final = ("provider_part", "choice")
"""The notices of content without events."""


@dataclass(slots=True)
class _Open:
    """An open call."""

    index: int
    name: str
    id: str | None
    form: ArgumentsForm
    extra: JsonObject
    spare: bool
    stopped: bool = False
    pieces: list[str] = field(default_factory=list[str])


class Assembler:
    """Builds the events of one answer; `events` are those not taken yet, `info` is the other data."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.info = AnswerInfo()
        self._at = 0
        self._spoken: list[str] = []
        self._length = 0
        self._piece = 0
        self._cited: set[tuple[int, str]] = set()
        self._count = 0
        self._open: dict[Hashable, _Open] = {}
        self._over: dict[Hashable, str | None] = {}
        self._latest: Hashable = None
        self._tokens: JsonObject = {}
        self._reason = ""
        self.partial: PartialArguments | None = None
        """The arguments that arrive value by value."""

    def take(self) -> list[Event]:
        """Return the events so far and clear them."""
        events, self.events = self.events, []
        return events

    def about(self, ident: JsonValue, model: JsonValue, created: JsonValue = 0) -> None:
        """Set the answer's id, model and time, unless already known."""
        info = self.info
        if not info.id and isinstance(ident, str):
            info.id = ident
        if not info.model and isinstance(model, str):
            info.model = model
        if not info.created and isinstance(created, (int, float)) and math.isfinite(created):
            info.created = int(created)

    def tokens(self, count: JsonValue, read: Callable[[JsonObject], Usage]) -> None:
        """Update the token counts; counts that are missing here stay."""
        if jsontext.is_object(count) and count:
            self._tokens.update((key, value) for key, value in count.items() if value is not None)
            self.info.usage = read(self._tokens)

    def prove(self, owner: str, signature: JsonValue = None, encrypted: JsonValue = None) -> None:
        """Store the proof of the reasoning that ends here."""
        signature = signature if isinstance(signature, str) and signature else None
        encrypted = encrypted if isinstance(encrypted, str) and encrypted else None
        if signature is not None or encrypted is not None:
            self.info.proofs.append(Proof(self._at, owner, signature, encrypted))

    def text(self, text: JsonValue) -> None:
        """Add text for the user."""
        if text := _words(text):
            self._go_on()
            self.events.append(TextDelta(text, self._at))
            self._at += len(text)
            self._spoken.append(text)
            self._length += len(text)

    def logprobs(self, tokens: JsonValue) -> None:
        """Store the probabilities of the next text's tokens."""
        for token in tokens if jsontext.is_array(tokens) else ():
            if jsontext.is_object(token) and isinstance(token.get("token"), str):
                held = {"bytes": list(token["token"].encode("utf-8", "surrogatepass")), "top_logprobs": []}
                self.info.logprobs.append(held | {key: value for key, value in token.items() if value is not None})

    def piece(self) -> None:
        """Begin a piece of text, from which the places in its citations count."""
        self._piece = self._length

    def cite(self, citation: JsonValue) -> None:
        """Store a citation of the current piece of text."""
        if jsontext.is_object(citation) and (key := (self._piece, json_text(citation))) not in self._cited:
            self._cited.add(key)
            self.info.citations.append(Cited(citation, self._piece))
            self.note("citations", str(citation.get("type", "citation")))

    @property
    def spoken(self) -> str:
        """The text so far."""
        self._spoken[:] = ["".join(self._spoken)]
        return self._spoken[0]

    def refusal(self, text: JsonValue) -> None:
        """Add text in which the model refuses."""
        if text := _words(text):
            self.info.refusals.add(self._at)
            self.text(text)

    def reasoning(self, text: JsonValue) -> None:
        """Add reasoning."""
        if text := _words(text):
            self._go_on()
            self.events.append(ReasoningDelta(text, self._at))
            self._at += len(text)

    def call(  # noqa: PLR0913 - what an API says of a call
        self,
        key: Hashable,
        name: JsonValue,
        ident: JsonValue,
        *,
        form: ArgumentsForm = "json",
        signed: tuple[str, JsonValue] = ("", None),
        extra: JsonObject | None = None,
        spare: bool = False,
    ) -> None:
        """Begin a call, once for each `key`; another id under the same key begins another call.

        `signed` is the owner of the call's signature, and the signature. `spare`: the API spares a call without
        arguments the empty object.
        """
        name = name if isinstance(name, str) else ""
        ident = ident if isinstance(ident, str) and ident else None
        known = self._open.get(key)
        if known is not None:
            if not name or ident is None or ident == known.id:
                if name and name != known.name:
                    self.info.dropped["tool_name", renamed := f"{known.name} -> {name}"] = None
                    self.note("renamed_call", renamed)
                return
            self.end(key)
        elif key in self._over and ident in (None, self._over[key]):
            return
        self._go_on()
        self._open[key] = made = _Open(self._count, name, ident, form, extra or {}, spare)
        owner, signature = signed
        if isinstance(signature, str) and signature:
            self.info.signed[made.index] = Proof(self._at, owner, signature)
            made.extra = {**made.extra, f"{owner}{SIGNATURE}": signature}
        if form == "text":
            self.info.custom.add(made.index)
        self._latest = key
        self._count += 1
        self.events.append(CallStart(made.index, made.name, made.id))

    def arguments(self, key: Hashable, piece: JsonValue) -> None:
        """Add a piece of a call's argument text, or all of its arguments as a value."""
        if piece is None:
            return
        text = piece if isinstance(piece, str) else jsontext.dumps(piece)
        found = self._open.get(key)
        if found is None:
            if key in self._over and text.strip():
                self.note("late_arguments", text)
        elif text:
            found.pieces.append(text)
            if found.form != "text":
                self.events.append(ArgumentsDelta(found.index, text))

    def settle(self, key: Hashable, whole: JsonValue) -> None:
        """Set a call's complete argument text, and emit the rest of it."""
        found = self._open.get(key)
        if found is None or whole is None:
            return
        text = whole if isinstance(whole, str) else jsontext.dumps(whole)
        if text.startswith(emitted := "".join(found.pieces)):
            self.arguments(key, text[len(emitted) :])

    def stop(self, key: Hashable) -> None:
        """End a call; one without arguments stays open until something follows, as a limit may have cut them off."""
        found = self._open.get(key)
        if found is not None and not found.pieces:
            found.stopped = True
        else:
            self.end(key)

    def end(self, key: Hashable, *, cut: bool = False) -> None:
        """End a call; `cut`: the answer ended before the call."""
        found = self._open.pop(key, None)
        if found is None:
            return
        self._over[key] = found.id
        raw = "".join(found.pieces)
        if cut and found.form != "json":
            self._fail(found, raw, "truncated", "the answer ended before the call did")
            return
        try:
            value = {"input": raw} if found.form == "text" else jsontext.loads(raw) if raw.strip() or cut else {}
        except ParseError as error:
            self._fail(found, raw, _reason(error, cut=cut), str(error))
            return
        if not jsontext.is_object(value):
            self._fail(found, raw, "arguments_not_object", f"the arguments are {raw[:40]!r}")
            return
        if not found.name:
            self._fail(found, raw, "missing_name", "the call names no tool")
            return
        if found.form == "text" or not raw.strip():
            self.events.append(ArgumentsDelta(found.index, jsontext.dumps(value)))
        missing = found.form != "text" and not raw.strip() and not found.spare
        if missing:
            self.note("defaulted", "a call without arguments: they count as {}")
        call = ToolInvocation(
            name=found.name,
            arguments=value,
            id=found.id,
            raw_arguments=raw or "{}",
            extra=found.extra,
            certainty="tolerated" if missing else "exact",
        )
        self.events.append(CallEnd(found.index, call, (self._at, self._at)))

    def whole_call(
        self, name: JsonValue, ident: JsonValue, arguments: JsonValue, signed: tuple[str, JsonValue] = ("", None)
    ) -> None:
        """Add a complete call."""
        key = object()
        self.call(key, name, ident, signed=signed)
        self.arguments(key, arguments)
        self.end(key)

    def ended(self, reason: JsonValue) -> None:
        """Set the finish reason from the provider's word; an empty one changes nothing."""
        if reason:
            self.info.stop = STOPS.get(reason, "stop")
            self._reason = str(reason)

    def blocked(self, reason: JsonValue) -> None:
        """Record that a filter stopped the answer, whatever the provider's word for it is."""
        self.info.stop, self._reason = "content_filter", str(reason)

    def close(self) -> None:
        """End the calls that are still open, and report an answer that a limit or a filter ended."""
        self.finish(cut=self.info.stop in UNFINISHED)
        stop = self.info.stop
        if stop is not None and stop in ENDINGS:
            self.note(ENDINGS[stop], self._reason or stop)
        if stop == "unstated":
            self.info.dropped["ending", stop] = None

    def finish(self, *, cut: bool = False) -> None:
        """End the calls that are still open."""
        for key in list(self._open):
            self.end(key, cut=cut)

    def broken(self, raw: str, reason: str, detail: str) -> None:
        """Record a call that the provider reports as malformed."""
        self.events.append(CallFailed(self._count, raw, reason, detail, (self._at, self._at), dialect=API))
        self._count += 1

    def fail(self, error: JsonValue) -> None:
        """Record a provider's error that replaces the rest of the answer."""
        self.info.failure = failure = read_error(error)
        self.info.error = failure.message
        self.note("provider_error", failure.message)

    def beside(self, value: JsonObject, known: Fields | Chosen | None) -> None:
        """Record the fields of an answer that are not read."""
        for place in unread(value, known):
            self.info.dropped["answer_field", dotted(place)] = None

    def note(self, kind: str, detail: str) -> None:
        """Record content other than text, reasoning and calls."""
        if kind in _DROPPED:
            self.info.dropped[kind, detail] = None
        self.events.append(Notice(kind, detail, (self._at, self._at)))

    def _go_on(self) -> None:
        """End the latest call if it is complete; each call is examined once, which keeps this linear."""
        key, self._latest = self._latest, None
        found = self._open.get(key) if key is not None else None
        if found is not None and (found.stopped or (found.form == "json" and _is_whole(found.pieces))):
            self.end(key)

    def _fail(self, call: _Open, raw: str, reason: str, detail: str) -> None:
        self.events.append(CallFailed(call.index, raw, reason, detail, (self._at, self._at), call.name, API))


def _words(text: JsonValue) -> str:
    """Return a piece of text, or "" for null; raises ParseError for anything else."""
    if not text or isinstance(text, str):
        return text or ""
    raise ParseError(f"expected text, not {type(text).__name__}: {jsontext.dumps(text)[:40]}")


def _is_whole(pieces: list[str]) -> bool:
    try:
        return jsontext.is_object(jsontext.loads("".join(pieces)))
    except ParseError:
        return False


def _reason(error: ParseError, *, cut: bool) -> str:
    if isinstance(error, LimitExceededError):
        return "limit"
    if isinstance(error, UnsafeInputError):
        return "duplicate_key" if "duplicate" in str(error) else "unsafe"
    return "truncated" if cut or "the text ends" in str(error) else "malformed"
