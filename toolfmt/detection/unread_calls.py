"""Find calls that no format reads, so that none is lost in silence.

    Action: search_docs("x")                            the chosen format, gone wrong
    <toolcall>{"name": "search_docs", ...}</toolcall>   a misspelt marker
    ```json
    {"name": "search_docs", "arguments": {"q": "x"}}    another format
    ```

A text looks like a call if a dialect reads a call of an offered tool in it, or if the name of an offered tool is in the
place of a call, which is on a line of its own or beside text that is similar to a marker of any dialect. A marker or a
tool that is only mentioned in a sentence does not count.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import Final

from toolfmt.detection.detecting import Read, unread
from toolfmt.detection.table import table
from toolfmt.detection.whole_calls import whole_call
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd, CallFailed, Notice, Span
from toolfmt.formatters.syntax_calls import call_formatter
from toolfmt.jsontext import is_array
from toolfmt.lookup.registry import Registry, default_registry
from toolfmt.model import ToolDefinition
from toolfmt.parsers.compiled.sections import any_of
from toolfmt.parsers.mending.mend_json import JsonMender, doubled
from toolfmt.parsers.respelling import EXAMPLE, EXAMPLE_TOOL, example, misspelt, renamed, sparing
from toolfmt.schema import property_names

UNREAD: Final = "unread_call"
"""The kind of the notice, and the reason of the failure, of a call that was not read."""
_READ: Final = 65536
"""Characters of an answer that are searched."""
_HINTED: Final = 8192
"""Characters of an unread call that are read in other formats."""
_NEAREST: Final = 5
"""Dialects whose markers are nearest, in which a text is read again."""
_MARKS: Final = 32
"""Markers of a text that are compared."""
_AROUND: Final = 300
"""Characters before and after a tool's name that may show that it is called."""
_CLOSE: Final = 0.75
"""How much of a marker must be right."""
_SHORTEST: Final = 3
"""Letters that a marker needs for a comparison."""
_MARKUP: Final = r"[^\w\n]{0,8}"
"""Bold, quotes, brackets around a word."""
_LABEL: Final = (
    r"(?:\w{1,40} ?= ?)?(?:<[^<>\s]{1,64}>|\[[A-Z_]{2,32}\])?"
    rf"(?:{_MARKUP}(?:[0-9]{{1,3}}[.)]{_MARKUP})?"
    r"(?:\w{1,20} )?(?:action|tool|function|call|tool[ _]call|function[ _]call|tool[ _]name)(?P<said>)"
    rf"{_MARKUP})?[\"'`*\[]{{0,4}}"
)
_GIVEN: Final = (
    r"[\"'`*]{0,4}(?:(?:\.call)?[ \t]{0,4}(?:\([^\n]*\)|\[[^\n]*\])(?:<[\w|]{3,40}>)?[^\w\n]{0,8}$"
    r"|\s{0,8}\{(?!\w{1,40}\})"
    rf"|{_MARKUP}\n{_MARKUP}(?:(?:\w{{1,20}}[ _])?input|arguments|args|parameters)\b)"
)
"""After a called tool's name: arguments in brackets to the line's end or a closer, an object, or a line of input."""
_TAG: Final = r"(?:<[^<>\n]{1,80}>{1,2}|&lt;[^<>\n]{1,80}?&gt;|\|\w{3,40}\|>|\[{1,2}/?\w{3,40}\]{1,2})"
_FENCED: Final = r"(?:`{3,8}\w{0,16}\s{0,8})?"
_QUOTE: Final = "[\"'\u201c\u201d]"
_KEY: Final = rf"(?:{_QUOTE}[^\"\u201c\u201d\n]{{0,40}}{_QUOTE}|[A-Za-z_]\w{{0,31}})\s{{0,4}}:\s{{0,4}}"
_VALUE: Final = rf"{_QUOTE}[^\"\u201c\u201d\n]{{0,80}}{_QUOTE}"
_PLACES: Final = tuple(
    (re.compile(rf"{before}\Z"), re.compile(after))
    for before, after in (
        # <fnction=NAME>, <tol name="NAME">
        (
            r"(?P<mark><[^<>\n]{1,60}?)[\"']?",
            rf"[\"']?(?:[^<>\n]{{0,60}}>\s{{0,8}}{_FENCED}\S|\s[^<>\n]{{1,200}}=[^<>\n]{{1,200}}>)",
        ),
        # <tol_call>NAME{, [TOL_CALLS]NAME[ARGS], <|oen|>call tool="NAME" index="1"<|sep|>
        (
            rf"(?P<mark>{_TAG})[`*]{{0,2}}\s{{0,8}}\[?(?:\w{{1,16}}[ ._:=])?(?:\w{{1,16}}[.:=] ?)?[\"']?",
            rf"[^<>{{(\[\n]{{0,40}}\s{{0,8}}(?:{_FENCED}[`*]{{0,2}}[<{{(\[]|\n\s{{0,8}}\w{{1,40}}\s{{0,4}}[:=])",
        ),
        # Ation: NAME, ✿FNCTION✿: NAME, Cll: NAME(
        (
            r"(?:\A|\n|[.!?] )[^\w\n]{0,8}(?P<mark>\w[\w ]{1,20}?)[^\w\n]{0,4}:[^\w\n]{0,4}",
            (
                rf"{_MARKUP}(?:\({{1,2}}\s{{0,4}}(?:\w{{1,40}}\s{{0,4}}[=:]|[\"'\d{{\[)])"
                rf"|\n{_MARKUP}\w[\w ]{{1,20}}{_MARKUP}:\s{{0,4}}(?:\[|\{{(?!\w{{1,40}}\}})))"
            ),
        ),
        # <tool><name>NAME</name>
        (rf"(?P<mark>{_TAG})\s{{0,8}}<\w{{1,24}}>\s{{0,8}}", r"\s{0,8}</\w{1,24}>"),
        # NAME\n<arg_key>city</arg_key>
        (r"(?:\A|\n|>)\s{0,8}", r"[ \t]{0,8}\n\s{0,8}<(\w{1,40})>[^<\n]{0,200}</\1>"),
        # to=functions.NAME<|channel|>
        (rf"(?:\A|\n|{_TAG})[\w ]{{0,24}}?to=[\w.]{{0,24}}", rf"[\w ]{{0,24}}(?:{_TAG}|\{{\s{{0,8}}\")"),
        # <toolcall>{"name": "NAME", [[SEG_SART {"tool_name": "NAME", functools[{{name: "NAME"
        (
            (
                rf"(?:\A|\n(?:\w{{3,40}}(?=\[))?|\A\w{{3,40}}(?=\[)|(?:{_TAG}\s{{0,8}}){{1,3}}|[\[<]{{1,2}}\w{{3,40}})"
                rf"\s{{0,8}}{_FENCED}(?:[\[{{]\s{{0,16}}){{1,4}}"
                rf"(?:{_KEY}(?:{_VALUE}\s{{0,4}},|\{{{{1,2}}|(?=\s*{_QUOTE}\Z))\s{{0,8}}){{0,6}}\s{{0,8}}{_QUOTE}"
            ),
            rf"{_QUOTE}\s{{0,8}}(?:[,}}]|:\s{{0,4}}\{{)",
        ),
        # "tool": {"name": "NAME", and the like, with a quote or a brace missing
        (
            (
                rf"\A\s{{0,8}}(?:[\[{{]{{0,4}}\s{{0,8}}(?:{_KEY}\{{?\s{{0,8}}){{1,3}}{_QUOTE}?"
                rf"|[\[{{][\[{{\s\w:\"\u201c\u201d]{{0,80}}{_QUOTE})"
            ),
            rf"{_QUOTE}\s{{0,8}}(?:,\s{{0,8}}{_QUOTE}?\w{{1,40}}{_QUOTE}?\s{{0,4}}:|:\s{{0,4}}\{{)",
        ),
        # NAME <|constrain|>json<|message|>{, NAME[ARGS]{
        (r"(?:\A|\n)(?!\s{0,8}>)[\w<|\[\]>=. ]{0,60}", r"[^\n{]{0,60}(?:<\|\w{2,40}\|>|\[[A-Z_]{3,32}\])\s{0,8}\{"),
        # the rest of a JSON call from its name on
        (r"\A\s{0,8}", rf"{_QUOTE}\s{{0,8}}(?:,\s{{0,8}}{_QUOTE}\w{{1,40}}{_QUOTE}\s{{0,4}}:|:\s{{0,4}}\{{)"),
    )
)
"""What is before and after the name of a called tool; the group `mark` is compared with markers."""


_SENTENCE: Final = re.compile(r"(?:[^\W\d_]+[,.]? ){3}").search
_NO_MARKUP: Final = re.compile("[^<>=;\u201c]*").fullmatch
_NEVER: Final = re.compile(r"(?!)")
_OPENING: Final = ('"', "'", "\u201c", "\u2018", "\u00ab")
_BRACKET: Final = re.compile(r"[{\[]")
_MARKED: Final = re.compile(r"<[^<>\n]{1,80}>|&lt;[^<>\n]{1,80}?&gt;|\[{1,2}/?[\w ]{3,40}\]{0,2}|\u273f\w{2,40}\u273f")
"""A marker of any format, or what is like one."""


def unread_notice(text: str, whole: str, tools: Mapping[str, ToolDefinition], dialect: str, read: Read) -> list[Notice]:
    """Report a call in the `text` of an answer, or in the `whole` of one without text, that was not read."""
    looked = text if text.strip() else whole
    found = unread_call(looked, tools, read)
    if found is None:
        return []
    raw, name = found
    start = max(0, whole.find(raw))
    at = looked.find(raw)
    looked = looked[max(0, at - _AROUND) : at + _HINTED]
    read = sparing(read, ())  # a text that is made for it resembles many formats, with many names
    more = (
        _how_to_read(looked, dialect, read, tuple(tools.values()))
        or _changed(looked, dialect, read)
        or _beside_marker(looked, dialect)
    )
    unknown = f"as {dialect} writes it" if dialect else "in a format that is known"
    span: Span = (start, start + len(raw))
    return [Notice(UNREAD, more or f"it looks like a call of {name!r}, but not {unknown}", span)]


def how_to_read(text: str, dialect: str, read: Read) -> str:
    """Say which format a text without a call of `dialect` is in, or what is misspelt in it; "" if unknown."""
    return _how_to_read(text, dialect, sparing(read, ()))


def _how_to_read(text: str, dialect: str, read: Read, tools: Sequence[ToolDefinition] = ()) -> str:
    registry = default_registry()
    others = [name for name in nearest(text, registry)[1] if name != dialect]
    likely = next((name for name in others if _calls(read, text, name)), "")
    for name in [*([dialect] if dialect in registry.names() else []), *(() if likely else others)]:
        slips = misspelt(registry.dialect(name), text, lambda said, name=name: _calls(read, said, name))
        if slips and name == dialect:
            instead = f"; or it is as {likely} writes it: give dialect={likely!r}" if likely else ""
            return f"a marker is misspelt: {slips}{instead}"
        if slips:
            return f"it looks like {name}, and a marker is misspelt: {slips}"
    found = unread(text, tools, read)
    if found is not None and (found.dialects or found.kind != "dialect") and (advice := found.advice(dialect)):
        return advice
    bare = [one.dialect for one in table(registry).bare if one.dialect != dialect] if _BRACKET.search(text) else []
    likely = likely or next((name for name in bare if _calls(read, text, name)), "")
    return f"it looks like {likely}: give dialect={likely!r}" if likely else ""


def _changed(text: str, dialect: str, read: Read) -> str:
    """Describe the smallest correction: of a key or a tag of another format, of doubled braces or broken JSON."""
    registry = default_registry()
    names = [dialect] if dialect in registry.names() else nearest(text, registry)[1]
    found: list[tuple[int, str]] = []
    for name in names or [one.dialect for one in table(registry).bare]:
        shown, reads = example(registry.dialect(name)), partial(_calls, read, dialect=name)
        if slips := renamed(text, shown, ("a",), reads) or doubled(text, reads) or _mended(text, shown, reads):
            found.append((slips.count(";"), slips if name == dialect else f"it looks like {name}: {slips}"))
    return min(found, key=lambda one: one[0])[1] if found else ""


def _mended(text: str, shown: str, reads: Callable[[str], bool]) -> str:
    """Describe what is wrong with the JSON of a text."""
    at = text.find("{")
    known = {word for word in re.findall(r'"(\w+)"\s*:', shown) if word != "a"}
    found = JsonMender(text, at, _NEVER, known, known, only=False).mended() if at >= 0 else None
    return "; ".join(found.slips) if found is not None and reads(text[:at] + found.text + text[found.end :]) else ""


def _beside_marker(text: str, dialect: str) -> str:
    """Name the formats of a marker that no call of theirs follows."""
    marks, names = nearest(text, default_registry())
    others = [name for name in names if name != dialect]
    return f"{marks[0]!r} is a marker of {' or '.join(others)}, which read no call after it" if others else ""


def _calls(read: Read, text: str, dialect: str) -> bool:
    return any(isinstance(event, CallEnd) for event in read(text, dialect))


def nearest(text: str, registry: Registry) -> tuple[list[str], list[str]]:
    """Return the markers of a text that are similar to those of dialects, and these, the nearest first."""
    owners = _owners(registry)
    found: Counter[str] = Counter()
    marks: list[str] = []
    for mark in dict.fromkeys(_MARKED.findall(text)[:_MARKS]):
        letters = _letters(mark)
        near = [one for one in (mark, letters) if one in owners][:1] or get_close_matches(letters, owners, 3, _CLOSE)
        marks += [mark] if near else []
        found.update({name for one in near for name in owners[one]})
    rank = table(registry).rank
    return marks, sorted(found, key=lambda name: (-found[name], rank[name]))[:_NEAREST]


@lru_cache(maxsize=8)
def _owners(registry: Registry) -> dict[str, list[str]]:
    """Return the dialects by the markers that they write, and by the letters of these."""
    owners: dict[str, list[str]] = {}
    for dialect in registry:
        if dialect.syntax is None:
            continue
        write = call_formatter(dialect.name, dialect.syntax)  # `dialect.calls` would compile the format to read it back
        try:
            written = write([EXAMPLE], {EXAMPLE_TOOL.name: EXAMPLE_TOOL})
        except UnrepresentableError:
            continue
        marks = {mark for mark in _MARKED.findall(written) if len(_letters(mark)) >= _SHORTEST}
        for mark in marks | set(map(_letters, marks)):
            owners.setdefault(mark, []).append(dialect.name)
    return owners


def unread_call(text: str, tools: Mapping[str, ToolDefinition], read: Read) -> tuple[str, str] | None:
    """Return the part of a text that looks like a call of one of these tools, and the tool's name."""
    if name := whole_call(text, tools):
        return text.strip(), name
    text, names = text[:_READ], {name for name in tools if name in text}
    if not names:
        return None
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    if found := next(_in_place(text, re.compile(rf"(?<!\w)(?:{either})(?!\w)")), None):
        return found
    for event in read(text, "auto"):
        name = event.name if isinstance(event, CallFailed) else event.call.name
        if name in names:
            return text[slice(*event.span)], name
    if found := next(_with_arguments(text, [tools[name] for name in sorted(names)]), None):
        return found
    # Nothing but the call on its line: a label, the name, then its arguments in parentheses or on the next line.
    line = re.compile(
        rf"^(?!\s{{0,8}}>)[ \t]{{0,8}}(?:print\((?![\"'])|await ){{0,2}}{_LABEL}(?P<name>{either}){_GIVEN}",
        re.MULTILINE | re.IGNORECASE,
    )
    match = line.search(text)
    if match is not None and match["said"] is None and is_shown(text, match.start()):
        match = None
    return None if match is None else (match.group().strip(), match["name"])


def _in_place(text: str, names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Find names in the place of a call, by the text around them."""
    for name in names.finditer(text):
        before, after = text[max(0, name.start() - _AROUND) : name.start()], text[name.end() : name.end() + _AROUND]
        for place, given in (*_PLACES, *_places(default_registry())):
            found = place.search(before) if given.match(after) is not None else None
            if found is None:
                continue
            mark = found.groupdict().get("mark")
            start = name.start() - len(before) + found.start()
            start += text[start : start + 1] == "\n"
            if (mark is None or _is_close(mark, default_registry())) and not is_shown(text, start):
                yield text[start:].strip(), name.group()


def _with_arguments(text: str, tools: Iterable[ToolDefinition]) -> Iterator[tuple[str, str]]:
    """Find names of tools after which their arguments are named in markup, all required ones, and no sentence is."""
    for tool in tools:
        either, needed = any_of(property_names(tool.parameters)), tool.parameters.get("required")
        marked = re.compile(rf"(?<=[<>\"'\u201c=;])(?:{either})(?=[<>\"'\u201d=&])")
        for name in re.finditer(rf"(?<!\w){re.escape(tool.name)}(?!\w)", text):
            given = [*marked.finditer(text, name.end(), name.end() + _AROUND)]
            least = max(0, name.start() - _AROUND)
            begin = max(least, text.rfind("\n", least, name.start()) + 1)
            missing = is_array(needed) and {*map(str, needed)} - {one.group() for one in given}
            if not given or missing or is_shown(text, begin):
                continue
            at = max(text.rfind("{", least, name.start()), begin)
            data = _NO_MARKUP(text, begin, given[-1].start()) and not _is_broken(text, begin, at)
            if not data and not _SENTENCE(text, begin, given[0].start()):
                yield text[begin:].strip(), tool.name


def _is_broken(text: str, begin: int, at: int) -> bool:
    """Whether the bracket at a place begins broken JSON with a key of a call, or a marker is before it in its line."""
    if _MARKED.search(text, begin, max(begin, at)):
        return True
    try:
        json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return re.compile(r"\b(?:arguments|parameters|args|function|tool)\W{1,16}").search(text, at) is not None
    return False  # it is data


def is_shown(text: str, start: int) -> bool:
    """Whether a place is in a quotation: quoted lines or words, code after words, or a fence that more text follows."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:start]
    if text[begin:].lstrip(" \t").startswith(">") or (line.strip() != line[-1:] and line.endswith(_OPENING)):
        return True
    if line.count("`") % 2 and not line.lstrip().startswith("```"):
        return bool(line.strip(" \t`"))
    return text.count("```", 0, start) % 2 == 1 and bool(text[start:].partition("```")[2].strip())


@lru_cache(maxsize=8)
def _places(registry: Registry) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return what is before and after the name of a tool in the calls of all dialects, with any words in the marker."""
    found: dict[tuple[str, str], None] = {}
    for dialect in registry:
        for form in dialect.syntax.forms if dialect.syntax is not None else ():
            before, slot, after = re.sub(r"\{\?|\?\}", "", form.call).partition("{name}")
            mark = before.rpartition("\n")[2]
            given, body = after.partition("{")[0], form.elements.member[:1] if form.elements is not None else "{"
            if slot and "{" not in mark and not mark[:1].isalnum() and len(_letters(mark)) >= _SHORTEST:
                found[_shape(mark), _shape(given if given.strip() else f"{given}{body}")] = None
    return tuple((re.compile(rf"(?P<mark>{mark})[\"']?\Z"), re.compile(rf"[\"']?{given}")) for mark, given in found)


def _shape(literal: str) -> str:
    """Make the pattern of texts that differ from a literal in their words and blanks only."""
    kinds = re.finditer(r"(\w+)|(\s+)|(.)", literal)
    return "".join(r"\w{2,40}" if kind[1] else r"\s{0,8}" if kind[2] else re.escape(kind[3]) for kind in kinds)


@lru_cache(maxsize=8)
def _markers(registry: Registry) -> tuple[str, ...]:
    """Return the letters of all markers with which calls begin."""
    found: set[str] = set()
    for dialect in registry:
        for form in dialect.syntax.forms if dialect.syntax is not None else ():
            opening = f"{form.section.partition('{calls}')[0]}\n{form.call}"
            found.update(
                _letters(mark) for mark in re.findall(r"[<\[]+[^<>\[\]{}]+|[^\W\d][\w ]+(?=\W{0,2}:)", opening)
            )
    return tuple(sorted(one for one in found if len(one) >= _SHORTEST))


def _letters(text: str) -> str:
    return re.sub(r"&[lg]t;|[\W_]+", "", text).lower()


@lru_cache(maxsize=256)
def _is_close(mark: str, registry: Registry) -> bool:
    return bool(get_close_matches(_letters(mark), _markers(registry), 1, _CLOSE))
