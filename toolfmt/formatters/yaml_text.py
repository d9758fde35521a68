r"""Write arguments as YAML that every reader of YAML 1.1 or 1.2 reads the same way.

    path: /a.txt
    content: |
      two
      lines
    opts:
      mode: 7
      tags:
      - a

Text that could be read as another type is written in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

_PLAIN = re.compile(r"(?:[^\W\d_]|[/_])(?:[\w ./+@%$*^~()=,-]*[\w./+@%$*^~()=-])?")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_BLOCK = re.compile(r"[^\s#](?:.|\n)*")
_ODD = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff]|<(?=/)")


def yaml_text(arguments: JsonObject) -> str:
    """Write the arguments, with a line break after each line; return "" if there are none."""
    return "".join(f"{line}\n" for line in _members(arguments))


def _members(value: JsonObject) -> Iterator[str]:
    for key, inner in value.items():
        yield from _below(f"{_string(key)}:", inner, "  ")


def _items(value: list[JsonValue]) -> Iterator[str]:
    for inner in value:
        if isinstance(inner, dict | list) and inner:
            first, *others = _members(inner) if is_object(inner) else _items(inner)  # type: ignore[arg-type] - one of the two
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
        else:
            yield from _below("-", inner, "  ")


def _below(head: str, value: JsonValue, pad: str) -> Iterator[str]:
    """Write a value after a key or dash, or on the lines below it."""
    if is_object(value) and value:
        yield head
        yield from (pad + line for line in _members(value))
    elif is_array(value) and value:
        yield head
        yield from _items(value)
    elif isinstance(value, str) and "\n" in value and _is_block(value):
        body = value.removesuffix("\n")
        yield f"{head} |{'' if body != value and not body.endswith(chr(10)) else '-' if body == value else '+'}"
        yield from (pad + line if line else "" for line in body.split("\n"))
    else:
        yield f"{head} {_string(value) if isinstance(value, str) else jsontext.dumps(value)}"


def _is_block(text: str) -> bool:
    """Whether a text can be a block of lines: not indented at its start, no invisible characters."""
    seen = text.replace("\n", "").replace("\t", "")
    return bool(_BLOCK.fullmatch(text)) and seen.isprintable() and "</" not in text


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _ODD.sub(lambda found: f"\\u{ord(found.group()):04x}", jsontext.dumps(text))
