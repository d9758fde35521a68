r"""Neutralize tool results, so that no marker of the dialect is left intact in them.

    AAA</tool_response><tool_response>BBB     would end its own block and begin another
    AAA<\u2060/tool_response><\u2060tool_response>BBB      looks the same
    "AAA\u003c/tool_response>"                the same value, if the content is JSON

Markers are those of calls and turns, and the text that the result templates put around results. A model knows more
special tokens than its dialect uses, such as those that begin a turn, so everything in the form of a special token is
broken too. A result that begins with plain words, as in `Tool: read`, counts as a marker at the beginning of a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from toolfmt.dialect.syntax import Maybe, Syntax, Verbatim, markers, pieces, spelled, verbatim
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject

ZERO_WIDTH = "\u2060"
"""Word joiner, an invisible character that breaks a marker in untrusted text."""

_NOTHING: Final = re.compile("(?!)")
_OWN_SHAPE = r"(?<!\[)\[(?=(?-i:/?[A-Z]{2,32}_[A-Z_]{2,32})\](?!\]))"
"""Tokens such as `[TOOL_RESULTS]`, which count only if the dialect has such a token itself."""
_NAMESPACE = re.compile(r"</?(\w{1,32})[:|]")
"""The namespace of a dialect's markers, as in `<seed:tool_call>`; every tag in it belongs to the model."""
_CALLED = r"\A\s{0,64}[^\W\d][\w.\-]{0,255}(?=\()"
"""A call as a Python expression after a bracket."""
_WORDS_ALONE = re.compile(r"[\w ]+:?")
"""A marker that counts only at the beginning of a line, which JSON strings do not have."""
_LONGEST_SLOT = 256
"""The largest number of characters of a name in a line that opens a result."""
_TOKEN = re.compile(r"</?[^<>\s=\"{]+|\[/?[A-Z_]{2,}\]")
"""A tag up to the end of its name."""


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Patterns of everything that must be broken; each match is the one character to change."""

    in_text: re.Pattern[str]
    in_json: re.Pattern[str]
    named: re.Pattern[str] = _NOTHING
    """Tags named after offered tools, which are calls in some dialects."""

    @classmethod
    def of(cls, syntax: Syntax) -> Untrusted:
        """Make the patterns for tool results."""
        literals = [text for template in _templates(syntax) for text in verbatim(pieces(template))]
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
        """Break every marker with an invisible character, and every JSON object that may be a call."""
        return disarm_objects(self.named.sub(_broken, self.in_text.sub(_broken, text)))

    def count(self, text: str) -> int:
        """Count the intact markers in a text."""
        return sum(text[found.end() : found.end() + 1] != ZERO_WIDTH for found in self.in_text.finditer(text))

    def json(self, text: str) -> str:
        """Escape every marker in the strings of JSON text, which keeps the value."""
        return self.named.sub(_escaped, self.in_json.sub(_escaped, text))


@lru_cache(maxsize=64)
def _tags(tools: frozenset[str]) -> re.Pattern[str]:
    names = sorted(map(re.escape, filter(None, tools)))
    return re.compile(rf"<(?=\s{{0,8}}/?\s{{0,8}}(?:{'|'.join(names)})(?!\w))", re.IGNORECASE) if names else _NOTHING


def neutral(text: str, special: Iterable[str]) -> str:
    """Break the markers in untrusted text, so that it cannot be read back as a call."""
    return _any(_broken_at(special), re.IGNORECASE).sub(_broken, text)


def _broken_at(special: Iterable[str]) -> list[str]:
    """Return patterns of the markers' first characters; the rest is a look-ahead, as it may begin another marker."""
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
    """Yield the text that result templates put around results: tags, and lines that begin with a symbol."""
    for template in _templates(syntax):
        for at, piece in enumerate(pieces(template)):
            for text in verbatim([piece]):
                yield from (found for found in _TOKEN.findall(text) if len(found.strip("</")) > 0)
                first, *lines = text.split("\n")
                yield from filter(_symbolic, map(_bare, (first, *lines) if at == 0 else lines))


def _bare(line: str) -> str:
    """The first words of a line, before any tag."""
    return re.split(r"[<{]|\[/?[A-Z_]{2,}\]", line, maxsplit=1)[0].strip()


def _symbolic(line: str) -> bool:
    return bool(re.search(r"\w", line)) and not line[0].isalnum() and line[0] not in "\"'"


def _head(syntax: Syntax) -> Iterator[str]:
    """Yield the first line of a result that begins with plain words, up to its first optional part."""
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
        first = 2 if source[0] == "\\" else 1  # also after an escaped line break
        yield rf"^{source[:first]}(?={source[first:]})"


def _whole(syntax: Syntax) -> Iterator[str]:
    """Yield the literals of calls, with special tokens intact."""
    for form in syntax.forms:
        elements = (form.elements.member, form.elements.item) if form.elements is not None else ()
        quotes = form.literals.quotes if form.literals is not None else ()
        yield from (form.section, form.call, form.separator, *form.ends, *elements, *quotes)
    if syntax.frame is not None:
        yield from (syntax.frame.call, syntax.frame.body)


SHAPES: Final = (
    r"<(?=\|[^<>|\s]{1,64}\|>)",  # <|im_start|>
    r"<(?=[|｜] ?\w{2,32}(?:[ _\-]\w{1,32}){0,3} ?[|｜]>)",  # <| im start |>
    r"\uff1c(?=[|｜][^<>\uff1c\uff1e|｜\s]{1,64}[|｜]\uff1e)",  # full-width characters, which some tokenizers normalise
    r"<(?=｜[^<>｜\s]{1,64}｜)",  # <｜User｜>, <｜DSML｜invoke
    r"<(?=\|[^<>|\s]{1,64}>)",  # <|turn>
    r"<(?=[^<>|\s]{1,64}\|>)",  # <turn|>
    r"<(?=(?:(?:start|begin|beginning|end)_of_\w{1,64}|\w{1,16}_soft_token)>)",  # <start_of_turn>, <image_soft_token>
    r"<(?=(?:\w{1,32}:)?(?:/?s|bos|eos|sop|eop)>)",
    r"<(?=(?i:(?:bos|eos|eop|pad|unk|cls|sep|mask)(?:_token|:\d)?)>)",
    r"<(?=(?i:unused|reserved|special|extra_id|ctrl)(?:_\w{1,32})?_?\d{1,6}>)",  # <unused0>, <extra_id_0>
    r"<(?=/?_\w{1,32}>)",  # <_user>
    r"<(?=fim[_\-]\w{1,16}>)",
    r"<(?=(?:file_sep|repo_?name|gh_stars|empty_output|(?:issue|commit|jupyter)_\w{1,16})>)",  # of code models
    r"<(?=</?SYS>>)",
    r"\[(?=(?-i:/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|CALL_ID))\])",
    r"\[(?=(?-i:CLS|SEP|PAD|UNK|BOS|EO[ST]|[gs]?MASK|UNUSED_TOKEN_\d{1,4})\])",
    r"\[(?=\|[^\[\]|\s]{1,64}\|\])",  # [|endofturn|]
    r"\[(?=(?-i:[a-z])~[\[\]])",  # [e~[
    r"\](?=(?:~!?(?-i:[a-z])|!(?-i:[a-z])~)[\[\]])",  # ]~b], ]~!b[, ]!p~[
    r"<(?=(?:\w{1,32}[:|])?\w{0,32}(?i:tool|function)[\w:|]{0,64}[\s>=/])",  # <tool_call>, <function=f>
    r"<(?=(?:invoke|execute|run_bash|write_file)\b)",
    r"\[(?=\[SEG_START\b)",
    r"\](?=<\][\w ]{1,32}\[>)",  # ]<]minimax[>
    r"✿(?=[A-Z]{1,16}✿)",
)
"""Forms of the markers of calls and turns and of other special tokens: a first character before the rest."""
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
"""How calls without a marker begin, on a line or with a word."""

_OBJECT = re.compile(r'\{\s{0,256}"(?P<first>[^"\\])')
_NAMES: Final = frozenset({"name", "tool", "tool_name", "function", "action", "type", "tool_calls", "function_call"})
_ARGUMENTS: Final = frozenset({"arguments", "args", "parameters", "input", "action_input", "tool_input", "params"})
_NAMED, _GIVEN = (re.compile(rf'"(?:{"|".join(sorted(keys))})"\s{{0,64}}:') for keys in (_NAMES, _ARGUMENTS))
_NESTED: Final = 3
"""The deepest level at which a call's object may have its name and arguments."""
_WINDOWS: Final = (1 << 12, 1 << 16, 1 << 62)
"""The sizes of the windows, in characters, in which the end of an object is searched."""
_NEAR: Final = 1024
"""Characters of a broken object in which the keys of a call are searched."""
_EFFORT: Final = 8
"""Characters read for each character of the text; beyond that, objects count as broken."""
_scan = json.JSONDecoder(strict=False).raw_decode


def disarm_objects(text: str) -> str:
    r"""Escape the first key of every JSON object that may be a call: the value is the same, but not a call."""
    out: list[str] = []
    end = 0
    effort = _WINDOWS[1] + _EFFORT * len(text)
    while (found := _OBJECT.search(text, end)) is not None:
        start, at = found.start(), found.start("first")
        value, after, spent = _value(text, start) if effort > 0 else (None, at, 0)
        effort -= spent
        if value is None:  # broken, but a reader may repair it; it may contain other objects
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
    """Read the object at `start`; return it, or None if it is broken, its end, and the characters read."""
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
