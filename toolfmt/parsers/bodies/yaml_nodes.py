r"""Parses the YAML that models write for arguments, without features that reach beyond the text.

    path: a.txt                 a plain scalar: typed by the tool's schema, else by YAML 1.2's core schema
    zip: '01234'                quoted: a string
    text: |                     a block scalar
      line 1
    yes: 01234                  text: not another type in 1.2, or not exact as a number

The scanner is libyaml. Anchors, aliases, tags, directives and complex keys are refused; keys are strings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

import yaml

from toolfmt.model import JsonValue

_events: Final = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # type: ignore[reportUnknownMemberType] - half typed
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final[dict[str, JsonValue]] = {
    word: value
    for value, words in ((None, " ~ null Null NULL"), (True, "true True TRUE"), (False, "false False FALSE"))
    for word in words.split(" ")
}
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ESCAPES: Final = re.compile(r"\\[nrtu\"\\/]").search
_QUOTES: Final = re.compile(r'(?<!\\)"').findall
_HALF_CURLY: Final = re.compile(r"[\u201c\u201d\u2018\u2019](?s:.*)[\"']").fullmatch
_PAIR: Final = re.compile(r"\\(?<!\\\\)u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_JOINED: Final = re.compile(r"\\U[0-9a-f]{8}")
_HIDE: Final = str.maketrans("\x85\u2028\u2029", "\uf885\uf8e8\uf8e9")
"""Characters that are line breaks only in YAML 1.1, with their replacements during scanning."""
_SHOW: Final = {new: old for old, new in _HIDE.items()}
_BREAKS: Final = re.compile("[\x85\u2028\u2029]").search
_STANDS_FOR: Final = re.compile("[\uf885\uf8e8\uf8e9]").search


class YamlError(ValueError):
    """Text outside the supported subset; `reason` is the failure's reason."""

    def __init__(self, message: str, reason: str = "malformed") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plain:
    """An unquoted scalar; its type is decided later."""

    text: str


YamlNode: TypeAlias = "Plain | str | list[YamlNode] | dict[str, YamlNode]"


def resolve(text: str, digits: int) -> JsonValue:
    """Type a plain scalar by the core schema; what JSON cannot represent exactly stays text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > digits:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and math.isfinite(value := float(text)):
        return value
    return text


def parse(text: str, depth: int) -> YamlNode | None:
    """Read a document of at most `depth` levels; return None if it is empty. Raises `YamlError`."""
    try:
        return _Composer(text, depth).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise YamlError(f"line {line} of the YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise YamlError(f"line 1 of the YAML: {error}") from None
    except UnicodeEncodeError:
        raise YamlError("a lone surrogate on a line of the YAML", "unsafe") from None


class _Composer:
    """Builds nodes from the scanner's events."""

    def __init__(self, text: str, depth: int) -> None:
        self._depth = depth
        self._pairs: dict[str, str] = {}  # JSON's escapes of characters, by YAML's
        text = _PAIR.sub(self._joined, text) if "\\u" in text else text
        self._breaks = not text.isascii() and bool(_BREAKS(text))
        if self._breaks and _STANDS_FOR(text):
            raise YamlError("a private character on a line of the YAML")
        self._text = text.translate(_HIDE) if self._breaks else text
        self._open: list[tuple[list[YamlNode] | dict[str, YamlNode], list[str], int]] = []
        """The enclosing lists and maps, each with its pending key and its column; -1 in flow style."""

    def document(self) -> YamlNode | None:
        """Read the only document of the text."""
        root: list[YamlNode] = []
        self._open = [(root, [], -1)]
        for event in _events(self._text, Loader=_LOADER):
            if isinstance(event, yaml.DocumentStartEvent) and (root or event.version or event.tags):
                raise _error(event, "a second document" if root else "a directive")
            if isinstance(event, yaml.NodeEvent) and event.anchor is not None:  # an alias has an anchor too
                raise _error(event, "an anchor or an alias")
            if isinstance(event, yaml.CollectionEndEvent):
                self._open.pop()
            elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
                self._add(event)
        return root[0] if root else None

    def _add(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        """Add a node to its parent."""
        if event.tag is not None:
            raise _error(event, "a tag")
        around, keys, column = self._open[-1]
        node = self._node(event, column, listed=isinstance(around, list))
        if isinstance(around, list):
            around.append(node)
        elif keys:
            around[keys.pop()] = node
        else:
            keys.append(self._key(event, node, around))
        if isinstance(node, list | dict):
            if len(self._open) > self._depth:
                raise _error(event, "nested too deep", "limit")
            flow = bool(getattr(event, "flow_style", False))
            self._open.append((node, [], -1 if flow else event.start_mark.column))

    def _node(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, column: int, *, listed: bool) -> YamlNode:
        """Return the value of a scalar in a block at this column, or an empty list or map.

        A `listed` scalar keeps the indentation of its first line, as the next one may be an item without a dash.
        """
        if not isinstance(event, yaml.ScalarEvent):
            return {} if isinstance(event, yaml.MappingStartEvent) else []
        text = event.value.translate(_SHOW) if self._breaks else event.value
        quoted, plain = event.style == '"', not event.style and listed
        if (quoted or plain) and event.end_mark.line > event.start_mark.line and column >= 0:
            least = column + 1 if quoted else event.start_mark.column
            lines = self._text[event.start_mark.index : event.end_mark.index].split("\n")[1:]
            if any(line.strip() and len(line) - len(line.lstrip(" ")) < least for line in lines):
                raise _error(event, "a text goes on in a line that is not deep enough for it")
        if event.style != '"' and self._pairs:
            text = _JOINED.sub(lambda found: self._pairs.get(found.group(), found.group()), text)
        if event.style:
            return text
        if text.endswith('"') and _ESCAPES(text) and len(_QUOTES(text)) % 2:
            raise _error(event, "a quote ends the text that none begins")
        if _HALF_CURLY(text):
            raise _error(event, "a text begins and ends with different quotes")
        return Plain(text)

    def _key(self, event: yaml.NodeEvent, node: YamlNode, members: dict[str, YamlNode]) -> str:
        """Return a node as a key."""
        key = node.text if isinstance(node, Plain) else node
        if not isinstance(key, str):
            raise _error(event, "a key that is not a string")
        if key in members:
            raise _error(event, f"the key {key!r} is given twice", "duplicate_key")
        at = event.start_mark.index
        if self._text[max(at - 64, 0) : at].rpartition("\n")[2].rstrip().endswith("?"):
            raise _error(event, "a complex key")
        return key

    def _joined(self, pair: re.Match[str]) -> str:
        joined = f"\\U{0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00:08x}"
        self._pairs[joined] = pair.group()
        return joined


def _error(event: yaml.Event, what: str, reason: str = "malformed") -> YamlError:
    return YamlError(f"line {event.start_mark.line + 1} of the YAML: {what}", reason)
