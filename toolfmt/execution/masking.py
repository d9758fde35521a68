"""Replaces the texts of injected values in errors, which a model reads and a state stores.

401 for http://host/?key=a%2Bb%2F1234   ->   401 for http://host/?key=[injected]
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue

SHORTEST: Final = 6
"""Characters of the shortest text that is replaced."""
MOST: Final = 1000
"""How many values are looked at for texts."""


def masked(value: JsonValue, injected: Iterable[object]) -> JsonValue:
    """Replace injected texts in a value, also as a `repr`, JSON or an address writes them."""
    # The longest first: one may be in another.
    forms = sorted({form for text in _texts(injected) for form in _forms(text)}, key=len, reverse=True)
    return _masked(value, forms) if forms else value


def _masked(value: JsonValue, forms: list[str]) -> JsonValue:
    if isinstance(value, str):
        for form in forms:
            value = value.replace(form, "[injected]")
        return value
    if is_object(value):
        return {key: _masked(item, forms) for key, item in value.items()}
    return [_masked(item, forms) for item in value] if is_array(value) else value


def _texts(injected: Iterable[object]) -> Iterator[str]:
    """Find the texts in injected values, and in the dicts, lists and tuples in them."""
    pending = deque(injected)
    for _ in range(MOST):
        if not pending:
            return
        value = pending.popleft()
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        if isinstance(value, str) and len(value) >= SHORTEST:
            yield value
        elif isinstance(value, dict):
            pending.extend(cast("Mapping[object, object]", value).values())
        elif isinstance(value, (list, tuple)):
            pending.extend(cast("Iterable[object]", value))


def _forms(text: str) -> Iterator[str]:
    yield text
    yield repr(text)[1:-1]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield quote(text, errors="replace")
    yield quote(text, safe="", errors="replace")
    yield quote_plus(text, errors="replace")
