r"""A subset of YAML 1.2: what models write as arguments, and nothing that reaches beyond the text.

    path: a.txt                 a plain scalar: typed later
    zip: '01234'                quoted: a string
    text: |                     a block scalar; also `>`, with `-` or `+`
      line 1
    tags: [a, b]                flow lists and maps
    edits:
    - old: x                    block lists and maps
      new: y

Anchors, aliases, tags, directives, complex keys and tabs as indentation are
refused. Keys are strings. The text is read once, from its beginning to its end.
"""

from __future__ import annotations

import re

from toolfmt.parsers.yaml_flow import REFUSED, FlowReader, Plain, YamlNode
from toolfmt.parsers.yaml_scalars import QUOTED, YamlError, fold, folded, unquoted

_COMMENT = re.compile(r"(?:^|[ \t])#")
_COLON = re.compile(r":(?=[ \t]|$)")
_END_OF_KEY = re.compile(r"[ \t]*:(?=[ \t]|$)")
_DASH = re.compile(r"-(?:[ \t]+|$)")
_HEADER = re.compile(r"[|>](?:(?P<indent>[1-9])?(?P<chomp>[+-])?|[+-](?P<after>[1-9]))(?:[ \t]*|[ \t]+#.*)")
_ESCAPES = re.compile(r"\\[nrtu\"\\/]").search
_QUOTES = re.compile(r'(?<!\\)"').findall
_NO_KEY = frozenset("[]{},#&*!|>%@`")


def parse(text: str, depth: int) -> YamlNode | None:
    """Read a document that is nested `depth` levels at most; None where it is empty. Raises `YamlError`."""
    reader = _Reader(text, depth)
    if reader.skip() and reader.content().rstrip() == "---":
        reader.next()
    if not reader.skip():
        return None
    node = reader.block(-1)
    if reader.skip():
        raise reader.error("text that belongs to nothing")
    return node


class _Reader:
    """A place in the text: a line, and the column at which what is unread of it begins."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer(r"\n(?!\Z)", text))]
        self.line = 0
        self.column = 0
        self.begun = False
        """Something of the line was read."""
        self.levels = depth

    def error(self, what: str, reason: str = "malformed") -> YamlError:
        return YamlError(f"line {min(self.line + 1, len(self.starts))} of the YAML: {what}", reason)

    def content(self) -> str:
        """The whole line."""
        more = self.line + 1 < len(self.starts)
        end = self.starts[self.line + 1] - 1 if more else len(self.text.removesuffix("\n"))
        return self.text[self.starts[self.line] : end].removesuffix("\r")

    def rest(self) -> str:
        """What is unread of the line."""
        return self.content()[self.column :]

    def next(self) -> None:
        self.line, self.column, self.begun = self.line + 1, 0, False

    def skip(self) -> bool:
        """Go to the next content, past blank lines and comments; False at the end."""
        while not self.begun and self.line < len(self.starts):
            line = self.content()
            self.column = len(line) - len(line.lstrip(" "))
            rest = line[self.column :].strip()
            if rest and rest[0] != "#":
                if line[self.column] == "\t":
                    raise self.error("a tab as indentation")
                return True
            self.next()
        return self.begun

    def more(self, column: int) -> bool:
        """Whether the node at this column goes on."""
        if not self.skip() or self.column < column:
            return False
        if self.column > column:
            raise self.error("an indentation that fits nothing above it")
        return True

    def block(self, parent: int) -> YamlNode:
        """Read the node that begins here; text of it may stand on lines that are deeper than `parent`."""
        if not self.levels:
            raise self.error("nested too deep", "limit")
        self.levels -= 1
        if _DASH.match(self.rest()):
            node: YamlNode = self.sequence()
        elif self.key() is not None:
            node = self.mapping()
        else:
            node = self.scalar(parent)
        self.levels += 1
        return node

    def sequence(self) -> list[YamlNode]:
        column, items = self.column, list[YamlNode]()
        while dash := _DASH.match(self.rest()):
            self.column, self.begun = self.column + dash.end(), True
            if self.rest() and not _COMMENT.match(self.rest()):
                items.append(self.block(column))
            else:
                items.append(self.below(column + 1, column))
            if not self.more(column):
                break
        return items

    def mapping(self) -> dict[str, YamlNode]:
        column, members = self.column, dict[str, YamlNode]()
        while True:
            key = self.key()
            if key is None:
                raise self.error("no key where one was due")
            name, end = key
            if name in members:
                raise self.error(f"the key {name!r} is given twice", "duplicate_key")
            rest = self.rest()[end:]
            blank = len(rest) - len(rest.lstrip(" \t"))
            self.column, self.begun = self.column + end + blank, True
            rest = rest[blank:]
            if rest and not rest.startswith("#"):
                members[name] = self.scalar(column)
            else:
                members[name] = self.below(column, column)
            if not self.more(column) or _DASH.match(self.rest()):
                return members

    def below(self, least: int, parent: int) -> YamlNode:
        """Read the value that begins on a later line, deeper than `parent`, or a list at the column `least`."""
        self.next()
        if self.skip() and (self.column > parent or (self.column == least and _DASH.match(self.rest()))):
            return self.block(parent)
        return Plain("")

    def key(self) -> tuple[str, int] | None:
        """The key that is here, and where its colon ends; None where there is no key."""
        rest = self.rest()
        if rest[:1] in {"'", '"'}:
            quoted = QUOTED.match(rest)
            end = quoted and _END_OF_KEY.match(rest, quoted.end())
            return (unquoted(quoted.group()), end.end()) if quoted and end else None
        if rest[:1] in _NO_KEY:
            return None
        if re.match(r"\?(?:[ \t]|$)", rest):
            raise self.error("a complex key")
        colon = _COLON.search(rest)
        comment = _COMMENT.search(rest, 0, colon.start()) if colon else None
        return None if colon is None or comment else (rest[: colon.start()].rstrip(), colon.end())

    def scalar(self, parent: int) -> YamlNode:
        """Read a value that begins on this line and is no block list or map."""
        rest = self.rest()
        if rest[0] in REFUSED:
            raise self.error(REFUSED[rest[0]])
        if rest[0] in "|>":
            return self.literal(parent)
        if rest[0] in "'\"[{":
            flow = FlowReader(self.text, self.starts[self.line] + self.column, self.levels)
            node = flow.value()
            while self.line + 1 < len(self.starts) and self.starts[self.line + 1] <= flow.at:
                self.line += 1
                line = self.content()
                if rest[0] == '"' and line.strip() and len(line) - len(line.lstrip(" ")) <= parent:
                    raise self.error("a quoted text goes on in a line that is not deeper than its key")
            self.column = flow.at - self.starts[self.line]
            behind = self.rest().lstrip()
            if behind and not behind.startswith("#"):
                raise self.error("text after a value")
            self.next()
            return node
        if re.match(r"[-?:](?:[ \t]|$)|[\]},]", rest):
            raise self.error(f"no value can begin with {rest[0]!r} here")
        return self.plain(parent)

    def plain(self, parent: int) -> Plain:
        """Read text without quotes, on this line and those below that are deeper than `parent`."""
        lines: list[str] = []
        rest = self.rest()
        while True:
            comment = _COMMENT.search(rest)
            text = rest[: comment.start()] if comment else rest
            if _COLON.search(text):
                raise self.error("a colon in text without quotes")
            lines.append(text.strip())
            self.next()
            if comment or self.line >= len(self.starts):
                break
            rest = self.content()
            stripped = rest.lstrip(" ")
            if stripped.strip() and (len(rest) - len(stripped) <= parent or stripped[0] == "#"):
                break
        while lines and not lines[-1]:
            lines.pop()
        text = fold(lines)
        if text.endswith('"') and _ESCAPES(text) and len(_QUOTES(text)) % 2:
            raise self.error("a quote ends the text that none begins")
        return Plain(text)

    def literal(self, parent: int) -> str:
        """Read a block scalar, whose header is here."""
        rest = self.rest()
        header = _HEADER.fullmatch(rest)
        if header is None:
            raise self.error("a block scalar whose first line is not below it")
        given = header["indent"] or header["after"]
        indent = max(parent, 0) + int(given) if given else None
        chomp = header["chomp"] or (rest[1] if header["after"] else "")
        lines: list[str] = []
        self.next()
        while self.line < len(self.starts):
            line = self.content()
            spaces = len(line) - len(line.lstrip(" "))
            if spaces < len(line) and indent is None and spaces > parent:
                indent = spaces
            if spaces < len(line) and spaces < (parent + 1 if indent is None else indent):
                break
            lines.append(line[indent if indent is not None else spaces :])
            self.next()
        end = self.starts[self.line] if self.line < len(self.starts) else len(self.text)
        kept = len(lines)
        while kept and not lines[kept - 1]:
            kept -= 1
        text = (folded if rest[0] == ">" else "\n".join)(lines[:kept])
        breaks = len(lines) - kept + (kept > 0) if chomp == "+" else int(kept > 0 and chomp != "-")
        return text + "\n" * (breaks if self.text[end - 1 : end] == "\n" else max(breaks - 1, 0))
