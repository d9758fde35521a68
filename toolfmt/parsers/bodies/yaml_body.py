r"""Reads arguments written as YAML between a call's tags.

    <write_file>
    path: a.txt
    content: |
      a line
      </write_file> in a text
    </write_file>

The body ends at its closer on a line that is not indented deeper than the body: no text
in YAML can be there. A closer that is indented deeper, or follows other text, counts
if no YAML continues below it.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from toolfmt import jsontext
from toolfmt.dialect.record import Limits, ParserOptions
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.bodies.claims import refuse_phrases
from toolfmt.parsers.bodies.yaml_nodes import Plain, YamlError, YamlNode, parse, resolve
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import GAP, first_match, match_next
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import chosen, coerce, declares, depends, item_schema, property_schema, types
from toolfmt.schema.places import kind_of

_DEEPEST = 256
_OBJECT = frozenset({"object"})
_ODD_KEY = re.compile("[\"'\u2018-\u201d][\\s\\S]*|[\\s\\S]*[:\"'\u2018-\u201d]").fullmatch
"""A key with a colon or a quote that belongs to the YAML syntax."""
_PLACE = re.compile(r"[\n<](?:(?<=\n)|(?=/|\Z))")
"""The end of a line, or a possible beginning of a closer."""


class YamlBody:
    """Reads one call's arguments and its closing tag."""

    def __init__(self, draft: Draft, begins: str, limits: Limits) -> None:
        """Read into `draft`; `begins` is the pattern of another call's beginning."""
        self.draft = draft
        self.begins = begins
        self.limits = limits

    def arguments(self, cur: Cursor, schema: JsonObject | None) -> Reading[JsonObject]:
        """Read the arguments and the closer. Raises `Malformed` or `Truncated`."""
        text, closer = yield from self._body(cur)
        try:
            values = _YamlValues(self.limits).read(text, schema)
        except YamlError as error:
            raise Malformed(error.reason, str(error), closer) from None
        self.draft.add(jsontext.dumps(values))
        return values

    def _body(self, cur: Cursor) -> Reading[tuple[str, int]]:
        """Read the body with its closer; return the body and where the closer begins."""
        pieces = Pieces()
        base = -1  # the indentation of the first line
        indent = 0  # of this line, while it is blank
        blank = True
        closer = _closer(self.draft.name)
        while True:
            found = first_match(closer, _PLACE.finditer(cur.buf, cur.pos), partial=not cur.eof)
            end = len(cur.buf) if found is None else found.start()
            text = cur.buf[cur.pos : end]
            if blank:
                indent += len(text) - len(text.lstrip(" "))
                blank = not text.strip(" ")
                base = indent if base < 0 and not blank else base
            pieces.add(text)
            cur.pos = end
            if found is None or found.partial:
                if cur.eof:
                    raise Truncated
                if found is None and not blank:
                    cur.wait(_PLACE.search, pieces)
                yield
            elif found.group() == "\n":
                pieces.add("\n")
                cur.pos, indent, blank = found.end(), 0, True
            elif (blank and indent <= max(base, 0)) or (yield from self._ends(cur, found.group(), max(base, 0))):
                cur.pos += len(found.group())
                return pieces.text(), cur.at - len(found.group())
            else:
                pieces.add(found.group())
                cur.pos += len(found.group())
                blank = False

    def _ends(self, cur: Cursor, closer: str, base: int) -> Reading[bool]:
        """Whether a closer that is not alone on its line counts: it does if no YAML follows."""
        at = regex.escape(closer)
        if (yield from match_next(cur, _compiled(f"{at}{GAP}(?:{self.begins})"))) is not None:
            return True
        if (yield from match_next(cur, _compiled(rf"{at}[ \t]{{0,64}}(?:\r?\n|\Z)"))) is None:
            return False
        below = rf" {{{min(base + 1, _DEEPEST)}}}|-\s|[\w.\-\"']{{1,64}}[ \t]{{0,8}}:(?:\s|\Z)|{at}"
        return (yield from match_next(cur, _compiled(rf"{at}(?:[ \t]{{0,64}}\r?\n){{1,16}}(?:{below})"))) is None


class _YamlValues:
    """Types the arguments of one call."""

    def __init__(self, limits: Limits) -> None:
        """Read within `limits`."""
        self.limits = limits

    def read(self, text: str, schema: JsonObject | None) -> JsonObject:
        """Read keys and values. Raises `YamlError`."""
        node = parse(text, self.limits.depth)
        if node is not None and not isinstance(node, dict):
            raise YamlError("expected keys and values", "arguments_not_object")
        values = self._members(node or {}, schema)
        if schema is not None and depends(schema):
            values = self._members(node or {}, chosen(schema, values))
        try:
            refuse_phrases(values, schema, 0)
        except Malformed as problem:
            raise YamlError(problem.detail) from None
        return values

    def _members(self, node: dict[str, YamlNode], schema: JsonObject | None) -> JsonObject:
        odd = next((key for key in node if _ODD_KEY(key) and not declares(schema, key)), None)
        if odd is not None:
            raise YamlError(f"the key {odd!r} has {'two colons' if odd.endswith(':') else 'a quote'}")
        return {key: self._typed(inner, property_schema(schema, key)) for key, inner in node.items()}

    def _typed(self, node: YamlNode, schema: JsonObject | None) -> JsonValue:
        """Return a node's value, typed by the tool's schema, or else by YAML."""
        kinds = types(schema)
        if isinstance(node, dict):
            if kinds is not None and not kinds & {"object", "null"}:
                raise YamlError("keys and values where none may be")
            return self._members(node, schema)
        if isinstance(node, list):
            return [self._typed(inner, item_schema(schema, at)) for at, inner in enumerate(node)]
        if not isinstance(node, Plain):
            return coerce(node, schema)[0]
        value = resolve(node.text, self.limits.digits)
        kind = kind_of(value)
        if kinds is None or kind in kinds or (kind == "integer" and "number" in kinds) or node.text.lower() == "null":
            return value  # a null, whatever the schema allows: the text "null" would be quoted
        text, changed = coerce(node.text, schema)
        if not changed and node.text and kinds == _OBJECT:
            raise YamlError("a text where keys and values are due")
        return text if changed or node.text or "string" in kinds else None


def written_yaml(
    text: str, at: int, options: ParserOptions, tool: ToolDefinition | None
) -> tuple[JsonObject, int] | None:
    """Read a body whose beginning, at `at`, and first closer begin lines; return its values and its end."""
    end = -1 if tool is None else text.find(f"</{tool.name}", at)
    if tool is None or end < 0 or text[at - 1] != "\n" or text[end - 1] != "\n":
        return None
    try:
        return _YamlValues(options.limits).read(text[at:end], tool.parameters), end
    except YamlError:
        return None


@lru_cache(maxsize=256)
def _closer(name: str) -> regex.Pattern[str]:
    return regex.compile(rf"\n|</{regex.escape(name)}\s{{0,64}}>")


@lru_cache(maxsize=256)
def _compiled(source: str) -> regex.Pattern[str]:
    return regex.compile(source)
