"""Replaces the texts of injected values in errors and progress, which a model reads and a state stores.

401 for http://host/?key=a%2Bb%2F1234   ->   401 for http://host/?key=[injected]
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """Replace injected texts in a value, also as programs write them, and once more in what those have written."""
    forms = _found("\n".join(_strings(value)), injected)
    return _masked(value, forms) if forms else value


def masked_text(text: str, injected: Iterable[object]) -> str:
    """Replace injected texts in a text, like `masked`."""
    return _replaced(text, _found(text, injected))


def _found(shown: str, injected: Iterable[object]) -> list[str]:
    """Find the forms of injected texts in a text, the longest first: one may be in another."""
    return sorted({form for text in _texts(injected) for form in _forms(text, shown)}, key=len, reverse=True)


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for inner in (*value, *value.values()) if is_object(value) else value:
            yield from _strings(inner)


def _masked(value: JsonValue, forms: list[str]) -> JsonValue:
    if isinstance(value, str):
        return _replaced(value, forms)
    if is_object(value):
        return {_replaced(key, forms): _masked(item, forms) for key, item in value.items()}
    return [_masked(item, forms) for item in value] if is_array(value) else value


def _replaced(text: str, forms: list[str]) -> str:
    for form in forms:
        text = text.replace(form, "[injected]")
    return text


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


def _forms(text: str, shown: str) -> Iterator[str]:
    """Yield the ways to write a text that `shown` may hold: no other is shorter, or changes letters and digits."""
    if len(text) > len(shown):
        return
    yield from filter(shown.__contains__, _encoded(text))
    if max(re.findall(r"[A-Za-z0-9]+", text), key=len, default="") in shown:
        once = {text, *_escaped(text)}
        yield from filter(shown.__contains__, once.union(*map(_escaped, once)))


def _encoded(text: str) -> Iterator[str]:
    data = text.encode(errors="replace")
    for padded in (b64encode(data).decode(), urlsafe_b64encode(data).decode()):
        for code in (padded, padded.rstrip("=")):
            yield from (code, quote(code, safe=""))
    yield data.hex()
    yield data.hex().upper()


def _escaped(text: str) -> set[str]:
    return {write(text) for write in _WRITERS}


_WRITERS: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: repr(text)[1:-1],
    lambda text: repr('"' + text)[2:-1],  # where a quote before it decides which ones are escaped
    lambda text: repr(text.encode(errors="replace"))[2:-1],
    lambda text: repr(b'"' + text.encode(errors="replace"))[3:-1],
    lambda text: ascii(text)[1:-1],
    lambda text: text.encode("unicode_escape").decode(),
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: html.escape(text, quote=False).replace('"', "&quot;"),
    lambda text: html.escape(text, quote=False).replace('"', "&#34;").replace("'", "&#39;"),
    lambda text: html.escape(text, quote=False).replace('"', "&quot;").replace("'", "&apos;"),
    lambda text: quote(text, errors="replace"),
    lambda text: quote(text, safe="", errors="replace"),
    lambda text: quote_plus(text, errors="replace"),
)
"""How a text is written in a `repr`, in bytes, JSON, HTML, XML and addresses."""
