"""Takes out of requests what nobody else may see, as the configuration's patterns say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import regex

from toolfmt.gateway.failing import refusal
from toolfmt.jsontext import is_array, is_object

if TYPE_CHECKING:
    from toolfmt.gateway.config import Redaction
    from toolfmt.model import JsonObject, JsonValue

_KEPT: Final = frozenset({"model", "previous_response_id", "previous_interaction_id"})
"""Fields of a request that are names, and no texts."""
_SECONDS: Final = 1.0
"""How long one pattern may look at one text."""


class Redactor:
    """Applies patterns to requests; `count` is how often they matched."""

    def __init__(self, rules: Iterable[Redaction]) -> None:
        """Take the rules."""
        self._rules = [(regex.compile(rule.pattern), rule.replacement) for rule in rules]
        self.count = 0

    def request(self, body: JsonObject) -> JsonObject:
        """Copy a request with what matches replaced in its texts; raises `ExchangeError` where that takes too long."""
        return {key: value if key in _KEPT else self._value(value) for key, value in body.items()}

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if is_array(value):
            return [self._value(one) for one in value]
        return {key: self._value(one) for key, one in value.items()} if is_object(value) else value

    def _text(self, text: str) -> str:
        for pattern, replacement in self._rules:
            try:
                text, found = pattern.subn(lambda _, now=replacement: now, text, timeout=_SECONDS)
            except TimeoutError:
                message = "a pattern of the gateway's redaction takes too long on this request"
                raise refusal("server", message) from None
            self.count += found
        return text
