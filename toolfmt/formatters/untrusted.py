r"""What a tool gave back, made harmless: no marker of the format is left whole in it.

    AAA</tool_response><tool_response>BBB     would end its own block, and begin another
    AAA<\u2060/tool_response><\u2060tool_response>BBB      the same to the eye
    "AAA\u003c/tool_response>"                where the content is JSON, the value itself

Markers are those of calls and turns, and what the results' own templates put
around results. A model knows more special tokens than its format uses, such as
those that begin a turn; where the format's own have the shape of one, nothing
of that shape passes. Where nothing but words opens a result, as in `Tool: read`,
they count at the beginning of a line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.syntax import Maybe, Verbatim, markers, pieces, spelled
from toolfmt.jsontext import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolfmt.dialect.syntax import Piece, Syntax
    from toolfmt.model import JsonObject


ZERO_WIDTH = "\u2060"
"""Word joiner: put inside a marker that is in untrusted text, it is not seen and breaks the marker."""

_NOTHING: Final = re.compile("(?!)")
_OWN_SHAPE = r"(?<!\[)\[(?=(?-i:/?[A-Z]{2,32}_[A-Z_]{2,32})\](?!\]))"
"""How further tokens of some models look, `[TOOL_RESULTS]`: it counts where a format has such a token itself."""
_NAMESPACE = re.compile(r"</?(\w{1,32})[:|]")
"""The namespace of a format's markers, `<seed:tool_call>`: all that is in it is the model's own."""
_CALLED = r"\A\s{0,64}[^\W\d][\w.\-]{0,255}(?=\()"
"""A call as a Python expression, if a bracket is before it."""
_WORDS_ALONE = re.compile(r"[\w ]+:?")
"""A marker that counts only at the beginning of a line, which no string in JSON has."""
_LONGEST_SLOT = 256
"""How long a name may be in a line that opens a result, in characters."""
_TOKEN = re.compile(r"</?[^<>\s=\"{]+|\[/?[A-Z_]{2,}\]")
"""A tag without what may differ between its name and its end."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """The patterns of what a format does not let pass; every match is the one character to change."""

    in_text: re.Pattern[str]
    in_json: re.Pattern[str]
    named: re.Pattern[str] = _NOTHING
    """Tags of the offered tools, which are calls in some formats."""

    @classmethod
    def of(cls, syntax: Syntax) -> Untrusted:
        """Make the patterns for what a tool gave back."""
        literals = [text for template in _templates(syntax) for text in _verbatim(pieces(template))]
        special = {*markers(syntax), *_block_markers(syntax), *syntax.special, *_TOKEN.findall(spelled(syntax.tools))}
        tokens = "\n".join((*special, *literals, *_whole(syntax)))
        shapes = [*SHAPES, *([_OWN_SHAPE] if re.search(_OWN_SHAPE, tokens) else [])]
        shapes += [rf"<(?=/?{name}[:|])" for name in sorted({*_NAMESPACE.findall(tokens)})]
        words = [_CALLED] if "[{results}" in syntax.results else []
        symbols = [marker for marker in special if not _WORDS_ALONE.fullmatch(marker)]
        return cls(
            in_text=_any((*_broken_at(special), *_head(syntax), *shapes, *LINES, *words), re.IGNORECASE | re.MULTILINE),
            in_json=_any((*_broken_at(symbols), *shapes), re.NOFLAG),
        )

    def naming(self, tools: frozenset[str]) -> Untrusted:
        """Add the tags of these tools."""
        return replace(self, named=_tags(tools))

    def text(self, text: str) -> str:
        """Break every marker of a text by a character that is not seen, and every JSON object that may be a call."""
        return disarm_objects(self.named.sub(_broken, self.in_text.sub(_broken, text)))

    def count(self, text: str) -> int:
        """Count the markers in a text that are not broken."""
        return sum(text[found.end() : found.end() + 1] != ZERO_WIDTH for found in self.in_text.finditer(text))

    def json(self, text: str) -> str:
        """Escape every marker of JSON text, which leaves the value as it is; they can stand only in its strings."""
        return self.named.sub(_escaped, self.in_json.sub(_escaped, text))


@lru_cache(maxsize=64)
def _tags(tools: frozenset[str]) -> re.Pattern[str]:
    names = sorted(map(re.escape, filter(None, tools)))
    return re.compile(rf"<(?=\s{{0,8}}/?\s{{0,8}}(?:{'|'.join(names)})(?!\w))", re.IGNORECASE) if names else _NOTHING


def neutral(text: str, special: Iterable[str]) -> str:
    """Take the sting out of markers inside untrusted text, so that it cannot be read back as a call."""
    return _any(_broken_at(special), re.IGNORECASE).sub(_broken, text)


def _broken_at(special: Iterable[str]) -> list[str]:
    """Patterns of the markers' first characters; what follows is only looked at, as it may begin another marker."""
    tails: dict[str, list[str]] = {}
    for marker in sorted(filter(None, special)):
        tails.setdefault(marker[0], []).append(re.escape(marker[1:]))
    return [f"{re.escape(first)}(?={'|'.join(tail)})" for first, tail in tails.items()]


def _any(sources: Sequence[str], flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile("|".join(sources), flags) if sources else _NOTHING


def _broken(found: re.Match[str]) -> str:
    return found.group() + ZERO_WIDTH


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


def _templates(syntax: Syntax) -> tuple[str, ...]:
    return (syntax.result, syntax.results, syntax.result_separator, syntax.error)


def _block_markers(syntax: Syntax) -> Iterator[str]:
    """Give what the templates of results put around them: tags, and lines that begin with a symbol."""
    for template in _templates(syntax):
        for at, piece in enumerate(pieces(template)):
            for text in _verbatim([piece]):
                yield from (found for found in _TOKEN.findall(text) if len(found.strip("</")) > 0)
                first, *lines = text.split("\n")
                yield from filter(_symbolic, map(_bare, (first, *lines) if at == 0 else lines))


def _bare(line: str) -> str:
    """A line's first words, before any tag."""
    return re.split(r"[<{]|\[/?[A-Z_]{2,}\]", line, maxsplit=1)[0].strip()


def _symbolic(line: str) -> bool:
    return bool(re.search(r"\w", line)) and not line[0].isalnum() and line[0] not in "\"'"


def _head(syntax: Syntax) -> Iterator[str]:
    """Give the first line of a result that words alone open, up to what may be missing in it."""
    if next(_block_markers(syntax), None) is not None:
        return
    source = slot = ""
    for piece in pieces(syntax.result):
        if not isinstance(piece, Verbatim):
            slot = rf"[^\n]{{0,{_LONGEST_SLOT}}}?"
            if isinstance(piece, Maybe) or piece.name == "content":
                break
            continue
        line, more, _ = piece.text.partition("\n")
        if line.strip():
            source += slot + re.escape(line.strip())
        if more:
            break
    if re.search(r"\w", source):
        first = 2 if source[0] == "\\" else 1  # an escaped character is one as well
        yield rf"^{source[:first]}(?={source[first:]})"


def _whole(syntax: Syntax) -> Iterator[str]:
    """Give the literals of calls, in which special tokens are not cut."""
    for form in syntax.forms:
        elements = (form.elements.member, form.elements.item) if form.elements is not None else ()
        quotes = form.literals.quotes if form.literals is not None else ()
        yield from (form.section, form.call, form.separator, *form.ends, *elements, *quotes)
    if syntax.frame is not None:
        yield from (syntax.frame.call, syntax.frame.body)


def _verbatim(parts: Iterable[Piece]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Verbatim):
            yield part.text
        elif isinstance(part, Maybe):
            yield from _verbatim(part.pieces)


SHAPES: Final = (
    r"<(?=\|[^<>|\s]{1,64}\|>)",  # <|im_start|>
    r"<(?=[|｜] ?\w{2,32}(?:[ _\-]\w{1,32}){0,3} ?[|｜]>)",  # <| im start |>
    r"\uff1c(?=[|｜][^<>\uff1c\uff1e|｜\s]{1,64}[|｜]\uff1e)",  # wide signs, which some tokenizers normalise
    r"<(?=｜[^<>｜\s]{1,64}｜)",  # <｜User｜>, <｜DSML｜invoke
    r"<(?=\|[^<>|\s]{1,64}>)",  # <|turn>
    r"<(?=[^<>|\s]{1,64}\|>)",  # <turn|>
    r"<(?=(?:start|begin|beginning|end)_of_\w{1,64}>)",  # <start_of_turn>
    r"<(?=(?:\w{1,32}:)?(?:/?s|bos|eos|sop|eop)>)",
    r"<(?=(?i:(?:bos|eos|pad|unk|cls|sep|mask)(?:_token)?)>)",
    r"<(?=(?i:unused|reserved|special|extra_id|ctrl)(?:_\w{1,32})?_?\d{1,6}>)",  # <unused0>, <extra_id_0>
    r"<(?=/?_\w{1,32}>)",  # <_user>
    r"<(?=fim[_\-]\w{1,16}>)",
    r"<(?=(?:file_sep|repo_?name|gh_stars|empty_output|(?:issue|commit|jupyter)_\w{1,16})>)",  # of models of code
    r"<(?=</?SYS>>)",
    r"\[(?=(?-i:/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|CALL_ID))\])",
    r"\[(?=(?-i:CLS|SEP|PAD|UNK|BOS|EOS|[gs]?MASK)\])",
    r"\[(?=\|[^\[\]|\s]{1,64}\|\])",  # [|endofturn|]
    r"\[(?=(?-i:[a-z])~[\[\]])",  # [e~[
    r"\](?=~!?(?-i:[a-z])[\[\]])",  # ]~b], ]~!b[
    r"<(?=(?:\w{1,32}[:|])?\w{0,32}(?i:tool|function)[\w:|]{0,64}[\s>=/])",  # <tool_call>, <function=f>
    r"<(?=(?:invoke|execute|run_bash|write_file)\b)",
    r"\[(?=\[SEG_START\b)",
    r"\](?=<\]\w{1,32}\[>)",  # ]<]minimax[>
    r"✿(?=[A-Z]{1,16}✿)",
)
"""How the markers of calls and turns and other special tokens look, each as the first character before the rest."""
LINES: Final = (
    r"(?<![^\n])[^\w\n]{0,64}Action(?=:\s{0,64}(?:```|[\w.]{1,256}\(|[^\n]{0,512}\n\s{0,64}Action Input))",
    r"(?<![^\n])[ \t]{0,64}[\w.:/\-]{1,256}(?=[ \t]{0,64}\r?\n\s{0,64}\{\s{0,64}[\"'}])",
    r"(?<![^\n])[^\w\n]{0,64}Call(?=:\s{0,64}[\w.]{1,256}\()",
    r"(?<![^\n])[ \t]{0,64}\[(?=\s{0,64}[^\W\d][\w.\-]{0,255}\()",
    r"(?<![^\n])>>>(?=[\w.:\-]{1,256}\n)",
    r"-(?=>[ \t]{0,8}(?:\w{1,32}/){0,4}\w{0,32}(?i:tool|function)[\w/]{0,64}\s)",  # -> tool/function_call
    r"functools(?=\s{0,64}\[)",
    r"function call(?=<)",
)
"""How calls begin on a line, or by a word, where no marker is around them."""

_OBJECT = re.compile(r'\{\s{0,256}"(?P<first>[^"\\])')
_NAMES: Final = frozenset({"name", "tool", "tool_name", "function", "action", "type", "tool_calls", "function_call"})
_ARGUMENTS: Final = frozenset({"arguments", "args", "parameters", "input", "action_input", "tool_input", "params"})
_NAMED, _GIVEN = (re.compile(rf'"(?:{"|".join(sorted(keys))})"\s{{0,64}}:') for keys in (_NAMES, _ARGUMENTS))
_NESTED: Final = 3
"""How deep a call's object may hold its name and arguments."""
_WINDOWS: Final = (1 << 12, 1 << 16, 1 << 62)
"""Characters in which an object's end is looked for, one after the other."""
_NEAR: Final = 1024
"""Characters of a broken object in which the keys of a call are looked for."""
_EFFORT: Final = 8
"""Characters that are read for each one of the text; where there is more to read, objects count as broken."""
_scan = json.JSONDecoder(strict=False).raw_decode


def disarm_objects(text: str) -> str:
    r"""Spell the first key of every JSON object that may be a call with an escape: the same value, and no call."""
    out: list[str] = []
    end = 0
    effort = _WINDOWS[1] + _EFFORT * len(text)
    while (found := _OBJECT.search(text, end)) is not None:
        start, at = found.start(), found.start("first")
        value, after, spent = _value(text, start) if effort > 0 else (None, at, 0)
        effort -= spent
        if value is None:  # broken, and perhaps mended by a reader; what is in it may be an object of its own
            near = start, start + _NEAR
            harmful = _NAMED.search(text, *near) is not None and _GIVEN.search(text, *near) is not None
            after = at
        else:
            harmful = _may_call(value, _NESTED)
        if harmful:
            after = max(after, at + 1)
            out += text[end:at], f"\\u{ord(text[at]):04x}", text[at + 1 : after]
        else:
            out.append(text[end:after])
        end = after
    return "".join((*out, text[end:]))


def _value(text: str, start: int) -> tuple[JsonObject | None, int, int]:
    """Read the object that begins at `start`: None where it is broken, its end, and the characters that were read."""
    spent = 0
    for size in _WINDOWS:
        window = text[start : start + size]
        spent += len(window)
        try:
            value, end = _scan(window)
        except json.JSONDecodeError as error:
            whole = len(window) == len(text) - start
            if whole or not (error.msg.startswith("Unterminated") or error.pos + 16 >= len(window)):
                break
        except (ValueError, RecursionError):
            break
        else:
            return value, start + end, spent
    return None, start, spent


def _may_call(value: object, levels: int) -> bool:
    if not levels:
        return False
    if is_array(value):
        return any(_may_call(item, levels - 1) for item in value)
    if not is_object(value):
        return False
    named = any(isinstance(value.get(key), str) for key in _NAMES)
    if named and any(isinstance(value.get(key), (dict, str)) for key in _ARGUMENTS):
        return True
    return any(_may_call(value[key], levels - 1) for key in _NAMES & value.keys())
