r"""Reads literals as they arrive and emits them as JSON text.

    city='Paris', opts={'dry': True, 'tags': ('a',)})      <- the parenthesis belongs to the call's tail
    {city:<|"|>say "hi"<|"|>,n:07}

Nothing is evaluated: names, calls, operators and `f''` are not literals. The
schema names positional arguments, in its order, and decides that
a value without quotes is a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import regex

from toolfmt import jsontext
from toolfmt.dialect.literals import KEYWORD
from toolfmt.dialect.record import ParserOptions
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.parsers.bodies.by_schema import has_one_reading
from toolfmt.parsers.bodies.claims import refuse_phrases
from toolfmt.parsers.bodies.element_values import StringText
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar
from toolfmt.parsers.bodies.literal_strings import LiteralTexts
from toolfmt.parsers.scanning.cursor import NEVER, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.damage import differs_by_one_character, misread
from toolfmt.parsers.scanning.patterns import cut_off, match_first, match_next
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsers.scanning.resuming import repeats
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import coerce, declares, kind_of, property_names, property_schema, types

_SPACE = re.compile(r"\s*").match
_WORD: Final = regex.compile(r"""[^\s,;:()\[\]{}='"<#]{1,5000}+(?=[\s,;:()\[\]{}='"<#])""")
_KEYWORD: Final = regex.compile(rf"({KEYWORD})\s{{0,64}}=(?!=)")
_GOES_ON: Final = regex.compile(rf"\)[ \t]{{0,64}},?[ \t]{{0,64}}{KEYWORD}\s{{0,8}}=(?=[^=])")
_BARE_KEY: Final = regex.compile(
    r"(?!/\*|//|\.\.\.)([^\s,:(){}\[\]'\"\u2018-\u201d<]"
    r"(?:[^,:(){}\[\]'\"<\n]{0,254}[^\s,:(){}\[\]'\"\u2018-\u201d<])?)\s{0,64}:"
)
_QUOTED_KEY: Final = regex.compile(r"""["']([^,:(){}\[\]'"<\n\\]{1,256})["']\s{0,64}:""")
_JSON_STRING: Final = regex.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,4096}+"(?=\s{0,64}[,\]}])'
)
_COLON: Final = regex.compile(r"\s{0,64}:")
_SET: Final = regex.compile(
    r"""\{\s{0,64}(?:'[^'\\\n]{0,255}'|"[^"\\\n]{0,255}"|[^\s,;:()\[\]{}='"<#]{1,255})\s{0,64}[,}]"""
)
"""The brace of a set: its first value is not a key."""
_WHOLE_WORD: Final = regex.compile(r"""([^\s,;:()\[\]{}='"<#]{1,5000}+)(?=\s{0,256}[,\]}])""")
_MARKUP = re.compile(r"\s*(?:&(?:lt|gt|quot|#\d{1,3});|[<>|)\]}\u2039\u203a\xab\xbb\uff02\uff1c\uff1e\uff5c])").match
"""Matches the beginning of a string whose quote is missing."""
_ODD_BARE: Final = re.compile(r"\s*(?:[:,=()\[\]{}'\"\u2018-\u201d]|/[/*]|\.\.\.|\Z)").match
"""What an unquoted string cannot be: empty, or begun by structure or a typographic quote."""
_BARE_END: Final = re.compile(r"[<,\]}]")
_NEXT_KEY: Final = regex.compile(r",\s{0,64}([^\s,:{}\[\]<>]{1,256})\s{0,64}:")
_AFTER_CALL: Final = regex.compile(r"\)\s{0,64}(?:,\s{0,64})?(?P<next>\S)")
_ONE_WORD: Final = re.compile(r"""[^\s,;:()\[\]{}='"<#]*\Z""").match
WORDS: Final = {"True": "true", "true": "true", "False": "false", "false": "false"} | dict.fromkeys(
    ("None", "null", "none"), "null"
)
_NUMBER: Final = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F_]+)|([0-9][0-9_]*)?(\.[0-9_]*)?([eE][+-]?[0-9]+)?)")
_CLOSERS: Final = {"keywords": ")", "{": "}", "[": "]", "(": ")", "set": "}"}
_LISTS: Final = frozenset({"[", "(", "set"})
_STRING: Final = frozenset({"string"})
_SEPARATED = re.compile(r"[,;\n]").search


class LiteralReader:
    """Reads the arguments of one call, and emits their JSON text to its draft."""

    def __init__(
        self, grammar: LiteralGrammar, cur: Cursor, draft: Draft, note: Callable[..., None], options: ParserOptions
    ) -> None:
        """Read from `cur`."""
        self._tools = options.tools
        self._grammar = grammar
        self._cur = cur
        self._draft = draft
        self._emit = draft.add
        self._note = note
        self._limits = options.limits
        self._texts = LiteralTexts(grammar, cur, note)
        self._named = self._open = False
        self._tool: ToolDefinition | None = None
        self._schema: JsonObject | None = None
        self._by_place: list[str] = []  # the arguments given without names

    def arguments(self, tool: ToolDefinition | None) -> Reading[None]:
        """Read all arguments: in braces, or keywords up to their closing parenthesis, which is not read."""
        self._tool = tool
        schema = self._schema = tool.parameters if tool else None
        kind = "keywords" if self._grammar.literals.keywords else "{"
        if kind == "{":
            self._cur.pos += 1
        self._emit("{")
        stack = [kind]
        first = True
        while stack:
            char = yield from self._next()
            kind = stack[-1]
            if len(stack) == 1 and not first and char != _CLOSERS[kind] and (yield from self._unclosed()):
                self._emit("}")
                return
            if not first and char != _CLOSERS[kind]:
                char = yield from self._comma(char, kind)
                if char != _CLOSERS[kind]:
                    self._emit(", ")
                elif kind != "(":
                    self._note("trailing comma")
            if char == _CLOSERS[kind]:
                stack.pop()
                self._emit("]" if kind in _LISTS else "}")
                self._cur.pos += kind != "keywords"
                first = False
            else:
                first = yield from self._entry(char, stack, schema)
        yield from self._ended()

    def checked(self, arguments: JsonObject) -> JsonObject:
        """Check that positional arguments fit the schema's properties in their places."""
        for name in self._by_place:
            permitted, kind = types(property_schema(self._schema, name)), kind_of(arguments[name])
            if not (permitted is None or kind in permitted or (kind == "integer" and "number" in permitted)):
                raise Malformed(
                    "malformed", f"an argument without a name: {name!r} is not of type {kind}", self._cur.at
                )
        if self._open and not has_one_reading(arguments, self._tool):
            raise Malformed("malformed", "the bracket that is missing may be that of an inner value", self._cur.at)
        return arguments

    def _ended(self) -> Reading[None]:
        """Check that the call ends here: a quote may have ended a string too early."""
        cur, end = self._cur, self._grammar.end
        if (yield from match_next(cur, end)) is None and not cut_off(cur, end):
            after = yield from match_next(cur, _AFTER_CALL)
            if after is None:
                raise Malformed("malformed", "expected the end of the call after its arguments", cur.at)
            found = "a comment" if after["next"] == "#" else repr(after["next"])
            detail = f"expected another call or the end of the calls, found {found}"
            raise Malformed("malformed", detail, cur.base + after.start("next"))
        if not self._grammar.literals.keywords:
            return
        cur.deadline = NEVER  # the call may have ended
        if (yield from match_next(cur, _GOES_ON)) is not None:
            raise Malformed("malformed", "an argument after the end of the call", cur.at)

    def _unclosed(self) -> Reading[bool]:
        """Whether the call's own marker or the next call of an offered tool follows, with the bracket missing."""
        found = yield from match_next(self._cur, self._grammar.unclosed)
        name = None if found is None else found.groupdict().get("name")
        if found is None or (name is not None and name not in self._tools):
            return False
        apart = found.group().partition(name)[0] if name else ","
        if self._cur.since(self._draft.start).rstrip()[-1:] == "," or re.match(r"\s*,\s*\S", apart):
            return False  # the next argument was due
        if (name == self._draft.name and not _SEPARATED(apart)) or (yield from repeats(self._cur, self._draft.start)):
            return False  # the call was given up and is written again
        self._note("the arguments are not closed", "missing_close", guessed=True)
        self._open = True
        return True

    def _entry(self, char: str, stack: list[str], schema: JsonObject | None) -> Reading[bool]:
        """Read a key and its value's beginning; return whether that opens a list or object."""
        kind, key = stack[-1], ""
        inner = None
        if kind in ("keywords", "{"):
            key = yield from self._key(kind, schema)
            if len(stack) == 1:
                refuse_phrases([key], schema, self._cur.at)
            self._emit(f"{jsontext.dumps(key)}: ")
            char = yield from self._next()
            inner = property_schema(schema, key) if len(stack) == 1 else None
        if char not in "[{(":
            place = "top" if len(stack) == 1 else kind
            if len(stack) == 1 and self._grammar.literals.typed_by_schema:
                yield from self._typed(inner, place)
            else:
                yield from self._scalar(place, inner, schema if len(stack) == 1 else None)
            return False
        if len(stack) >= self._limits.depth:
            raise Malformed("limit", f"nested deeper than {self._limits.depth}", self._cur.at)
        if kind == "set":
            raise Malformed("malformed", "a set holds no lists or objects", self._cur.at)
        if char == "(":
            self._note("a tuple")
        elif char == "{" and self._grammar.literals.escapes and (yield from match_next(self._cur, _SET)) is not None:
            self._note("a set")
            char = "set"
        self._cur.pos += 1
        stack.append(char)
        self._emit("{" if char == "{" else "[")
        return True

    def _next(self) -> Reading[str]:
        cur = self._cur
        while True:
            cur.pos = _SPACE(cur.buf, cur.pos).end()  # type: ignore[union-attr] - matches everywhere
            if cur.pos < len(cur.buf):
                return cur.buf[cur.pos]
            if cur.eof:
                raise Truncated
            yield

    def _comma(self, char: str, kind: str) -> Reading[str]:
        if char != ",":
            expected = f"a comma or {_CLOSERS[kind]!r}"
            raise Malformed("malformed", f"expected {expected}, found {char!r}", self._cur.at)
        self._cur.pos += 1
        return (yield from self._next())

    def _key(self, kind: str, schema: JsonObject | None) -> Reading[str]:
        cur = self._cur
        if kind == "keywords":
            found = yield from self._match(_KEYWORD)
            while found is not None and found.end() == len(cur.buf) and not cur.eof:  # `==` is not a keyword's sign
                yield
                found = yield from self._match(_KEYWORD)
            if found is None:
                return self._place(schema)
            cur.pos, self._named = found.end(), True
            return found[1]
        if cur.buf[cur.pos] in self._grammar.starts:
            text = Pieces()
            opened = yield from match_first(cur, self._grammar.openers)
            if opened is not None:
                cur.pos = opened.end()
                yield from self._texts.read(opened["quote"], "key", text, raw=False)
                colon = yield from self._match(_COLON)
                if colon is None:
                    raise Malformed("malformed", "expected a colon after the key", cur.at)
                cur.pos = colon.end()
                return text.text()
        found = yield from self._match(_BARE_KEY)
        bare = self._grammar.literals.bare_keys
        odd = (yield from self._match(_QUOTED_KEY)) if found is None and bare else None
        key = found or odd
        if key is None:
            raise Malformed("malformed", f"expected a key, found {cur.buf[cur.pos]!r}", cur.at)
        if odd or not bare:
            self._note("a key in quotes" if odd else "a key without quotes")
        cur.pos = key.end()
        return key[1]

    def _match(self, pattern: regex.Pattern[str]) -> Reading[regex.Match[str] | None]:
        """Match at the cursor; raises `Truncated` if the input ends in a partial match."""
        found = yield from match_next(self._cur, pattern)
        if found is None and cut_off(self._cur, pattern):
            raise Truncated
        return found

    def _place(self, schema: JsonObject | None) -> str:
        """Name a positional argument after the schema's next property, if no named argument came before."""
        names = list(property_names(schema))
        if self._named or len(self._by_place) >= len(names):
            raise Malformed("malformed", "an argument needs its name: name=value", self._cur.at)
        self._by_place.append(names[len(self._by_place)])
        detail = f"an argument had no name; by its position in the schema it is {self._by_place[-1]!r}"
        self._note(detail, "unnamed_argument", guessed=True)
        return self._by_place[-1]

    def _scalar(self, kind: str, inner: JsonObject | None, schema: JsonObject | None) -> Reading[None]:
        cur = self._cur
        if cur.buf[cur.pos] in self._grammar.starts:
            opened = yield from match_first(cur, self._grammar.openers)
            if opened is not None:
                cur.pos = opened.end()
                self._emit('"')
                raw = bool(opened.groupdict().get("raw"))
                text = StringText(self._draft)
                yield from self._texts.read(opened["quote"], kind, text, raw=raw)
                text.close()
                self._emit('"')
                return
        if not self._grammar.literals.bare_keys:
            self._emit((yield from self._word()))
            return
        word = yield from match_next(cur, _WHOLE_WORD)
        written = None if word is None else WORDS.get(word[1]) or _number(word[1])
        if word is None or written is None or (written != "null" and types(inner) == _STRING):
            quoted = yield from match_next(cur, _JSON_STRING)
            if quoted is not None:
                cur.pos = quoted.end()
                self._note("a text in the quotes of JSON")
                self._emit(quoted.group())
                return
            text = yield from self._bare(kind, schema)
            value = coerce(text, inner)[0] if self._grammar.literals.typed_by_schema else text
            allowed = types(inner)
            if isinstance(value, str) and allowed is not None and "string" not in allowed:
                raise Malformed("malformed", "a text without quotes where none may be", cur.at)
            self._emit(jsontext.dumps(value))
        else:
            cur.pos = word.end(1)
            self._emit(written)

    def _typed(self, schema: JsonObject | None, kind: str) -> Reading[None]:
        cur = self._cur
        opened = yield from match_first(cur, self._grammar.openers)
        if opened is None:
            yield from self._scalar(kind, schema, None)
            return
        cur.pos = opened.end()
        text = Pieces()
        at = cur.at
        yield from self._texts.read(opened["quote"], kind, text, raw=False)
        value = coerce(text.text(), schema)[0]
        if isinstance(value, str) and misread(value, schema, ""):
            raise Malformed("malformed", "the JSON of an argument is broken", at, cur.at)
        self._emit(jsontext.dumps(value))

    def _word(self) -> Reading[str]:
        cur = self._cur
        found = yield from match_next(cur, _WORD)
        if found is None and cur.eof and _ONE_WORD(cur.buf, cur.pos):
            raise Truncated
        word = "" if found is None else found.group()
        written = WORDS.get(word) or _number(word)
        if written is None:
            advice = "; write text in quotes" if word else ""
            raise Malformed("malformed", f"{word or cur.buf[cur.pos]!r} is not a literal{advice}", cur.at)
        cur.pos += len(word)
        return written

    def _bare(self, kind: str, schema: JsonObject | None) -> Reading[str]:
        """Read a string without its opening quote, and perhaps its closing one."""
        cur, grammar = self._cur, self._grammar
        text = Pieces()
        while True:
            found = _BARE_END.search(cur.buf, cur.pos)
            end = len(cur.buf) if found is None else found.start()
            text.add(cur.buf[cur.pos : end])
            cur.pos = end
            if found is None:
                if cur.eof:
                    raise Truncated
                yield
                continue
            quote = yield from match_first(cur, grammar.openers)
            if quote is not None:
                if (yield from match_next(cur, grammar.follow[quote["quote"]][kind])) is not None:
                    self._check_begin(text.text(), quote["quote"])
                    cur.pos += len(quote.group())
                    self._note("a text without its opening quote")
                    return text.text()
                raise Malformed("malformed", "a quote inside a text that has none before it", cur.at)
            elif (yield from self._bare_ends(kind, schema)):
                if _ODD_BARE(text.text()):
                    raise Malformed("malformed", "no value where one is due", cur.at)
                self._note("a text without quotes", guessed=True)
                return text.text().rstrip()
            if cur.eof and any(opener.match(cur.buf, cur.pos, partial=True) for opener in grammar.openers):
                raise Truncated
            if cur.buf[cur.pos] == "<" and quote is None:
                raise Malformed("malformed", "markup in a text without quotes", cur.at)
            text.add(cur.buf[cur.pos])
            cur.pos += 1

    def _check_begin(self, text: str, quote: str) -> None:
        """Refuse a string that begins with a misspelt quote or other markup."""
        if _MARKUP(text) or any(
            differs_by_one_character(text[:length], quote) for length in range(len(quote) - 1, len(quote) + 2)
        ):
            raise Malformed("malformed", "the quote before a text is misspelt", self._cur.at)

    def _bare_ends(self, kind: str, schema: JsonObject | None) -> Reading[bool]:
        """Whether an unquoted string ends at the cursor: before the next value, or the end of its container."""
        cur, char = self._cur, self._cur.buf[self._cur.pos]
        if kind in _LISTS:
            return char in {",", _CLOSERS[kind]}
        if char == ",":
            key = yield from match_next(cur, _NEXT_KEY)
            return key is not None and (not schema or declares(schema, key[1].strip("\"'")))
        if char != "}" or kind != "top":
            return char == "}"
        end = self._grammar.braced_end
        return (yield from match_next(cur, end)) is not None or cut_off(cur, end)


def _number(word: str) -> str | None:
    """Write a number as JSON does; None if the word is not a number."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return None
    sign, hexadecimal, whole, fraction, exponent = found.groups()
    sign = "-" if sign == "-" else ""
    if hexadecimal:
        return sign + str(int(hexadecimal.replace("_", ""), 16))
    if not (whole or (fraction and len(fraction) > 1)):
        return None
    digits = (whole or "0").replace("_", "").lstrip("0") or "0"
    rest = (fraction or "").replace("_", "")
    return sign + digits + (rest + "0" if rest == "." else rest) + (exponent or "")
