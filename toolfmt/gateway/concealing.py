r"""A back's key in its own answers: a server may quote what it was sent, and the client must not read it.

{"content": "The key is sk-1234567890abcdef."}        ->  {"content": "The key is [key]."}
{"content": "The key is sk-123456"}, {"content": "7890abcdef."}      in the pieces of a stream, too
{"content": "The key is sk\u002d1234567890abcdef."}   and however JSON escapes it
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from dataclasses import replace
from typing import Final

from toolfmt import jsontext
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, Event, Notice, ReasoningDelta, TextDelta

MARK: Final = "[key]"
_LONG: Final = 16
_MIXED: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z]).{8,}")
"""What is in no text by chance, even if it is shorter."""
_ESCAPED: Final[Mapping[str, str]] = {'"': r"\\\"", "\\": r"\\\\", "/": r"\\?/"}


def concealable(key: str) -> bool:
    """Whether no answer contains a key unless its back has quoted it."""
    return len(key) >= _LONG or _MIXED.fullmatch(key) is not None


class Concealer:
    """Replaces a key in answers; nothing if the key is a word that an answer may well contain."""

    def __init__(self, key: str) -> None:
        self._key = key if concealable(key) else ""
        escaped = (rf"(?:{_ESCAPED.get(one, re.escape(one))}|\\u00(?i:{ord(one):02x}))" for one in self._key)
        self._in_json = re.compile("".join(escaped).encode())

    def json(self, data: bytes) -> bytes:
        """Replace the key in JSON."""
        if not self._key:
            return data
        if b"\\" in data:
            return self._in_json.sub(MARK.encode(), data)
        return data.replace(self._key.encode(), MARK.encode())

    async def batches(self, batches: AsyncIterable[list[Event]]) -> AsyncIterator[list[Event]]:
        """Replace the key in the events of a stream; what may be its beginning waits for the next piece."""
        held = _Held(self._key)
        try:
            async for batch in batches:
                yield held.feed(batch) if self._key else batch
        except Exception:
            yield held.close()
            raise
        yield held.close()


_TEXTS: Final[Mapping[type[Event], str]] = {TextDelta: "text", ReasoningDelta: "text", ArgumentsDelta: "json"}
"""The fields of the events that are pieces of a text."""


class _Held:
    """The end of a text that may be the beginning of a key."""

    def __init__(self, key: str) -> None:
        self._keys = {"text": key, "json": jsontext.escape(key)}
        self._event: Event | None = None

    def feed(self, events: Iterable[Event]) -> list[Event]:
        found: list[Event] = []
        for event in events:
            name = _TEXTS.get(type(event))
            if isinstance(event, Notice):
                found.append(event)
            elif name is None:
                found += [*self.close(), self._whole(event)]
            else:
                found += self._piece(event, name)
        return found

    def close(self) -> list[Event]:
        """Return what was held; most of a key is as good as all of it."""
        event, self._event = self._event, None
        if event is None:
            return []
        name = _TEXTS[type(event)]
        known = 2 * len(getattr(event, name)) > len(self._keys[name])
        return [replace(event, **{name: MARK}) if known else event]

    def _piece(self, event: Event, name: str) -> list[Event]:
        found: list[Event] = []
        key, text, held = self._keys[name], getattr(event, name), self._event
        if held is not None and type(held) is type(event) and _index(held) == _index(event):
            text = getattr(held, name) + text
        else:
            found = self.close()
        text = text.replace(key, MARK)
        cut = text.find(key[0], max(0, len(text) - len(key) + 1))
        while 0 <= cut < len(text) and not key.startswith(text[cut:]):
            cut = text.find(key[0], cut + 1)
        said, rest = (text[:cut], text[cut:]) if cut >= 0 else (text, "")
        self._event = replace(event, **{name: rest}) if rest else None
        return [*found, replace(event, **{name: said})] if said else found

    def _whole(self, event: Event) -> Event:
        if isinstance(event, CallFailed):
            return replace(event, raw=event.raw.replace(self._keys["json"], MARK))
        if not isinstance(event, CallEnd):
            return event
        arguments = jsontext.dumps(event.call.arguments)
        key = self._keys["json"]
        if key not in arguments:
            return event
        raw = event.call.raw_arguments
        made = jsontext.loads(arguments.replace(key, MARK))
        call = event.call.model_copy(update={"arguments": made, "raw_arguments": raw and raw.replace(key, MARK)})
        return replace(event, call=call)


def _index(event: Event) -> int:
    return event.index if isinstance(event, ArgumentsDelta) else 0
