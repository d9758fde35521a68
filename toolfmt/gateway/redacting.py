r"""Redaction: what matches a pattern is replaced in requests before they are sent or stored.

{"content": "I am Müller"}                 ->  {"content": "I am [redacted]"}
{"arguments": "{\"a\": \"M\u00fcller\"}"}  ->  {"arguments": "{\"a\": \"[redacted]\"}"}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import regex

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.gateway.config import Redaction
from toolfmt.gateway.failing import refusal
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

_KEPT: Final = frozenset({"model", "previous_response_id", "previous_interaction_id"})
"""Fields of a request that are names, not text."""
_SECONDS: Final = 1.0
"""The longest search of one pattern in one text."""


class Redactor:
    """Replaces matches of patterns in requests; `count` is their number."""

    def __init__(self, rules: Iterable[Redaction]) -> None:
        self._rules = [(regex.compile(rule.pattern), rule.replacement) for rule in rules]
        self.count = 0

    def request(self, body: JsonObject) -> JsonObject:
        """Copy a request with what matches replaced in its texts; raises `ExchangeError` if that takes too long."""
        kept = {key: value for key, value in body.items() if key in _KEPT}
        return {**self._object({key: value for key, value in body.items() if key not in _KEPT}), **kept}

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._json(self._text(value))
        if is_array(value):
            return [self._value(one) for one in value]
        return self._object(value) if is_object(value) else value

    def _object(self, value: JsonObject) -> JsonObject:
        found: JsonObject = {}
        for key, one in value.items():
            name = self._text(key)
            while name in found:  # two names that differ only in what is redacted
                name += "_"
            found[name] = self._value(one)
        return found

    def _json(self, text: str) -> str:
        """Redact a text that is JSON, such as a call's arguments, with its escapes resolved."""
        if "\\" not in text or text.lstrip()[:1] not in {"{", "["}:
            return text
        before = self.count
        try:
            value = self._value(jsontext.loads(text))
        except ParseError:
            return text
        return text if self.count == before else jsontext.dumps(value)

    def _text(self, text: str) -> str:
        for pattern, replacement in self._rules:
            try:
                text, found = pattern.subn(lambda _, now=replacement: now, text, timeout=_SECONDS)
            except TimeoutError:
                message = "a pattern of the gateway's redaction takes too long on this request"
                raise refusal("server", message) from None
            self.count += found
        return text
