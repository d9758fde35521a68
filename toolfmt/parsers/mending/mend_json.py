r"""Mends broken JSON that has exactly one reading.

    {name: "f", "arguments": {"path": "/tmp/a, "n": 1]}</tool_call>
     ^ quotes                               ^ a quote, ^ a bracket

The text is read once from left to right. A slip is mended if what follows leaves one reading; an ambiguous value
ends the attempt. Nothing is dropped, and no value is invented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from toolfmt import jsontext
from toolfmt.parsers.mending.mend_strings import NoSingleReading, encoded, odd_end, within

_SPACE = re.compile(r"\s*+").match
_COMMENT = re.compile(r"//[^\n]*\n|/\*.*?\*/|#[^\n]*\n", re.DOTALL).match
_KEY = re.compile(
    r"""["'\u201c\u201d\u2018\u2019]?([^\W\d][\w.$\-]{0,100})["'\u201c\u201d\u2018\u2019]?\s{0,32}[:=]"""
).match
_WORD = re.compile(r"[\w.+\-]+").match
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?").fullmatch
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u201d": "\u201d"}
_ANY_QUOTE = {quote: re.compile(rf"\\.|{re.escape(closer)}", re.DOTALL).search for quote, closer in _QUOTES.items()}
_CLOSED = re.compile(r"\s{0,64}([}\]](?:\s{0,64}[}\]]){0,32})?\s{0,64}").match
_NEXT_KEY = re.compile(
    r"""[,\n]\s{0,64}(?:["'\u201c\u2018]([^"'\u201c\u201d\n]{1,100})["'\u201d\u2019]|([^\W\d][\w.$\-]{0,100}))\s{0,32}:"""
).match
_NEXT_WORD = re.compile(r""",\s{0,64}"([^"\n]{1,100})"\s{0,32}[{\["\d\-tfn]""").match
_NO_KEY = re.compile(r",\s{0,64}[}\]]|(?:,\s{0,64})?/[/*]").match
_NEXT_VALUE = re.compile(r""",\s{0,64}(?:/[/*]|[\]"'\u201c\u2018{\[\d\-]|true|false|null|True|False|None)""").match
_MISSED = re.compile(r"""\s{0,32}([\w.$\-]{1,100})["'\u201d\u2019]\s{0,32}:""").match
_BEFORE_KEY = re.compile(r",\s{0,64}\Z").search
_KEYLIKE = re.compile(r"""["'](?:[\w.$\-]{1,100}["']\s{0,32}:|\s{0,32},)""").search
_UNOPENED = re.compile(r"""([^\s"'\\,:;=()`\[\]{}\d<][^"'\\,:\[\]{}\n<]{0,1000})["']""").match
_REST = re.compile(r"[\s\]});,`>]+")
_DEEPEST = 64
"""The largest number of nested levels."""
_CLOSERS = {"{": "}", "[": "]"}


SINGLE = "write { and } instead of {{ and }}"
"""Advice on doubled braces."""
_DOUBLED = re.compile(r'\\.|"(?:[^"\\]|\\.)*+"|([{}])\1', re.DOTALL)


def single_braces(text: str) -> str:
    """Replace doubled braces outside strings, which come from a template's escapes: `{{"a": 1}}`."""
    return _DOUBLED.sub(lambda found: found[1] or found.group(), text)


def doubled(text: str, reads: Callable[[str], bool]) -> str:
    """Return advice on doubled braces, or "" unless `reads` finds a call in the text without them."""
    single = single_braces(text)
    return SINGLE if single != text and reads(single) else ""


@dataclass(slots=True)
class Mended:
    """The mended JSON text, the end of the broken text, and a description of each slip."""

    text: str
    end: int
    slips: list[str] = field(default_factory=list[str])


class JsonMender:
    """Reads one value.

    `marker` matches the format's markers, `known` are possible keys of members, and with `only` the only ones.
    `outer` are keys of the call around the arguments. If the text ends before a marker, the answer was cut off:
    open values may be incomplete, so only a list of complete calls is closed.
    """

    def __init__(  # noqa: PLR0913 - what it knows of the format
        self,
        text: str,
        at: int,
        marker: re.Pattern[str],
        known: Collection[str],
        outer: Collection[str] = (),
        *,
        only: bool,
    ) -> None:
        """Start at `text[at]`."""
        self._outer = outer
        self._only = only
        self._text = text
        self._at: int = at
        self._marker = marker
        self._known = known
        self._out: list[str] = []
        self._stack: list[str] = []
        self._members: list[list[str]] = []
        """The keys of each open object, and a bracket for each list in a list."""
        self._slips: dict[str, None] = {}

    def mended(self) -> Mended | None:
        """Read and mend the value; return None if it is ambiguous."""
        try:
            self._read()
        except NoSingleReading:
            return None
        return Mended("".join(self._out), self._at, [*self._slips])

    def _slip(self, what: str) -> None:
        self._slips[what] = None

    def _blank(self, at: int) -> int:
        found = _SPACE(self._text, at)
        return at if found is None else found.end()

    def _skip(self) -> str:
        """Skip white space and comments; return the next character, or "" at a marker or the end of the text."""
        while True:
            self._at = self._blank(self._at)
            comment = _COMMENT(self._text, self._at)
            if comment is None:
                break
            self._slip("remove the comment")
            self._at = comment.end()
        if self._marker.match(self._text, self._at):
            return ""
        return self._text[self._at : self._at + 1]

    def _read(self) -> None:
        due = "value"
        while True:
            char = self._skip()
            if not char:
                self._finish(due)
                return
            if due == "value":
                due = self._value(char)
            elif due in {"key", "first"}:
                due = self._key(char, first=due == "first")
            else:
                due = self._after(char)
            if due == "after" and not self._stack:
                return

    def _finish(self, due: str) -> None:
        """Close open values at the end of the text."""
        if due == "value" or not self._stack or self._out[-1] == ",":
            raise NoSingleReading  # a member was expected
        if self._at == len(self._text) and self._stack != ["]"]:
            raise NoSingleReading  # a value that was cut off may lack members
        if self._stack != ["]"]:  # the list of calls may be closed after this call
            self._slip(f"close it with {''.join(reversed(self._stack))} at the end")
        while self._stack:
            self._out.append(self._unclosed_bracket())

    def _unclosed_bracket(self) -> str:
        """Remove the innermost unclosed bracket; raises if its value may have ended earlier."""
        last, members = self._stack.pop(), self._members.pop()
        around = self._stack[-1] if self._stack else ""
        if last == "]" and (around == "]" or "[" in members):
            raise NoSingleReading  # the other bracket may be surplus
        if last == around == "}" and len(members) > 1:
            called = self._members[-1][-1] in self._outer
            if not called or any(key in self._outer for key in members[1:]):
                raise NoSingleReading  # they may be members of the enclosing object
        return last

    def _open(self, char: str) -> str:
        if char == "[" and self._stack[-1:] == ["]"]:
            self._members[-1].append("[")
        self._stack.append(_CLOSERS[char])
        self._members.append([])
        if len(self._stack) > _DEEPEST:
            raise NoSingleReading
        self._out.append(char)
        self._at += 1
        return "first" if char == "{" else "value"

    def _close(self, char: str) -> str:
        if char not in self._stack:
            if not self._marked(self._at):
                raise NoSingleReading
            self._finish("after")
            return "after"
        if self._out[-1] == ",":
            self._out.pop()
            self._slip("remove the trailing comma")
        while self._stack[-1] != char:
            self._out.append(last := self._unclosed_bracket())
            self._slip(f"add the missing {last}")
        self._stack.pop()
        self._members.pop()
        self._out.append(char)
        self._at += 1
        return "after"

    def _value(self, char: str) -> str:
        if char in "{[":
            return self._open(char)
        if char == "]" and self._out[-1:] in (["["], [","]):
            return self._close(char)
        if self._stack[-1:] == ["]"] and (key := _KEY(self._text, self._at)) and key[1] in self._known:
            self._pop_to("}")
            return "key"
        if char in _QUOTES:
            self._string(char)
            return "after"
        word = _WORD(self._text, self._at)
        text = word.group() if word is not None else ""
        if text in _WORDS or _NUMBER(text):
            if _WORDS.get(text, text) != text:
                self._slip(f"write {_WORDS[text]} instead of {text}")
            self._out.append(_WORDS.get(text, text))
            self._at += len(word.group())  # type: ignore[union-attr] - it has text
            return "after"
        bare = _UNOPENED(self._text, self._at)
        if bare is None or not self._ends_string(bare.end()):
            raise NoSingleReading
        self._slip("add the missing quote")
        self._out.append(encoded(bare[1]))
        self._at = bare.end()
        return "after"

    def _pop_to(self, closer: str) -> None:
        """Close open values up to the object or list of this closer."""
        if closer not in self._stack:
            raise NoSingleReading
        if self._out[-1] == ",":
            self._out.pop()
        while self._stack[-1] != closer:
            self._out.append(last := self._unclosed_bracket())
            self._slip(f"add the missing {last}")
        self._out.append(",")

    def _key(self, char: str, *, first: bool) -> str:
        """Read a key and its colon."""
        if char in "}]":
            return self._close(char)
        if char == "{" and not first and "]" in self._stack:
            self._pop_to("]")
            return "value"
        if char == ",":
            raise NoSingleReading
        key = _KEY(self._text, self._at)
        if key is not None:
            written = key.group().rstrip(":= \t\n\r")
            if written != f'"{key[1]}"':
                self._slip("write keys in double quotes")
            if key.group()[-1] == "=":
                self._slip("write : instead of =")
            self._out.append(jsontext.dumps(key[1]) + ":")
            self._members[-1].append(key[1])
            self._at = key.end()
            return "value"
        return self._quoted_key(char)

    def _quoted_key(self, char: str) -> str:
        """Read a quoted key with unusual characters or without a colon."""
        if char not in "\"'":
            raise NoSingleReading
        end = self._text.find(char, self._at + 1, self._at + 256)
        name = self._text[self._at + 1 : end]
        after = self._blank(end + 1)
        if end < 0 or "\n" in name or "\\" in name:
            raise NoSingleReading
        if self._text[after : after + 1] != ":":
            if name not in self._known or self._text[after : after + 1] in ",}]" or after == len(self._text):
                raise NoSingleReading
            self._slip("add the missing : after the key")
            after -= 1
        self._out.append(jsontext.dumps(name) + ":")
        self._members[-1].append(name)
        self._at = after + 1
        return "value"

    def _after(self, char: str) -> str:
        if char in "}]":
            return self._close(char)
        inside = self._stack[-1]
        if char == "," or (char == ";" and inside == "]"):
            self._at += 1
        else:
            key = _KEY(self._text, self._at) if inside == "}" else None
            if not (char in "\"'{[" if inside == "]" else key is not None and self._may_be(key[1])):
                raise NoSingleReading
            self._slip("add the missing comma")
        self._out.append(",")
        return "key" if inside == "}" else "value"

    def _may_be(self, key: str) -> bool:
        return not self._only or key in self._known

    def _string(self, quote: str) -> None:  # noqa: C901 - one loop over quotes
        """Read a string up to a quote with plausible structure around it."""
        text, begin = self._text, self._at + 1
        pos, inner = begin, 0
        closer = _QUOTES[quote]
        search = _ANY_QUOTE[quote]
        if quote not in "\"'":
            self._slip('write " instead of other quotation marks')
        elif quote == "'":
            self._slip('write " instead of single quotes')
        while True:
            found = search(text, pos)
            if found is None:
                self._unclosed(begin, inner)
                return
            pos = found.end()
            if text[found.start()] == "\\":
                continue
            if self._ends_string(pos, inner):
                break
            missed = _MISSED(text, pos) if closer in "\"'" else None
            before = _BEFORE_KEY(text, max(begin, found.start() - 66), found.start())
            if missed is not None and before is not None and missed[1] in self._known and not inner:
                if odd_end(text[begin : before.start()]):
                    raise NoSingleReading  # another character may have been meant as its quote
                self._slip("add the missing quote")
                self._out.append(encoded(text[begin : before.start()]))
                self._at = before.start()
                return
            beside = text[pos : pos + 1] if inner % 2 else text[max(begin, pos - 2) : pos - 1]
            if beside.isalnum():
                raise NoSingleReading  # it neither opens nor closes anything in the string
            inner += 1
        held = text[begin : pos - 1]
        if pos == len(text) and "".join(reversed(self._stack)) in re.sub(r"\s", "", held):
            raise NoSingleReading  # the quote begins another string
        if inner:
            if inner % 2 or _KEYLIKE(held) or self._marker.search(held) or within(held):
                raise NoSingleReading  # quotes around the whole text may be the string's, written twice
            self._slip('escape quotes inside a string as \\"')
        self._out.append(encoded(held, single=quote == "'"))
        self._at = pos

    def _ends_string(self, at: int, inner: int = 0) -> bool:  # noqa: PLR0911 - one for each thing that follows
        """Whether structure continues at `at`, directly after a quote."""
        text = self._text
        closed = _CLOSED(text, at)
        if closed is None:
            return False
        rest = closed.end()
        if closed[1]:
            found = re.sub(r"\s", "", closed[1])
            if found[0] not in self._stack:
                return self._marked(at)
            goes_on = rest == len(text) or text[rest] in ",;)`" or self._keyed(at, rest)
            return (
                goes_on or len(found) > len(self._stack) or self._marked(at) or text.startswith(("//", "/*", "#"), rest)
            )
        if rest == len(text) or self._marker.match(text, rest):
            return True
        if self._stack[-1:] == ["}"]:
            comma = _NEXT_KEY(text, at if text[at : at + 1] in ",\n" else rest)
            if comma is not None:
                return self._may_be(comma[1] or comma[2])
            word = _NEXT_WORD(text, rest)  # a key without its colon
            known = word is not None and word[1] in self._known
            return known or _NO_KEY(text, rest) is not None or self._keyed(at, rest)
        another = text[rest] in "\"'" and rest > at and not inner
        return another or _NEXT_VALUE(text, rest) is not None

    def _marked(self, at: int) -> bool:
        """Whether unopened closing brackets at `at` belong to a marker of the format."""
        closed = _CLOSED(self._text, at)
        return closed is not None and self._marker.match(self._text, closed.end()) is not None

    def _keyed(self, at: int, rest: int) -> bool:
        """Whether a known key follows without a comma."""
        key = _KEY(self._text, rest)
        return rest > at and key is not None and key[1] in self._known

    def _unclosed(self, begin: int, inner: int) -> None:
        """Read a string without an end quote, up to the closing brackets or the format's marker."""
        marker = next(self._marker.finditer(self._text, begin), None)
        if marker is None:
            raise NoSingleReading  # its rest was cut off
        end = marker.start()
        held = self._text[begin:end]
        closed = held.rstrip(" \t\r\n}]")
        brackets = re.sub(r"\s", "", held[len(closed) :])
        due = "".join(reversed(self._stack))
        if inner or _KEYLIKE(held) or _REST.sub("", self._marker.sub("", self._text[end:])):
            raise NoSingleReading  # the text after the marker may be part of the string
        if brackets != due:
            raise NoSingleReading
        end = begin + len(closed)
        if odd_end(self._text[begin:end]):
            raise NoSingleReading
        self._slip("add the missing quote")
        text = re.sub(r"\\(?:u[0-9a-fA-F]{0,3})?\Z", "", self._text[begin:end])
        self._out.append(encoded(text))
        self._at = end
