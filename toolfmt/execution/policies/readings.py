r"""Every path that a text may be to the tool that gets it.

    "<URL: file:///srv/%252e%252e/etc/passwd>"
    -> "URL: file:///srv/%252e%252e/etc/passwd", "file:///srv/%252e%252e/etc/passwd", "/srv/%252e%252e/etc/passwd",
       "/srv/%2e%2e/etc/passwd", "/srv/../etc/passwd"

Tools unwrap what they are given, one this and another that: white space of any script, brackets and quotes, a prefix
such as `URL:`, `jar:` or `path=`, the strings of a list or an object, the links of a chain (`zip://a::/srv/x.zip`),
percent signs, entities and escapes more than once, `~` and variables. So each step is tried on the result of each
other, until nothing new comes out.

`mentioned` finds paths among other things in one text, as shells and tools split it:

    "cp in/a ../../x"     "../../x"
    "--mount=type=bind,src=/etc,dst=y"    "/etc"
    "see https://example.com/etc/a?b=/etc or a/b"    nothing

Every item of a list of paths counts. Elsewhere a slash may be part of prose, of markup or of a pattern: there an
absolute path counts if its first folder exists on this machine, and any path if it contains `..`. In a command, quotes
inside a word are removed and braces and patterns expanded: `/e"t"c`, `.{.,}/x`, `/e??/passwd`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from fnmatch import fnmatchcase
from html import unescape
from typing import Final
from unicodedata import category, lookup, normalize
from urllib.parse import unquote

from toolfmt.execution.policies.links import is_pattern, values, without_choices

_ITEMS: Final = re.compile(r"[\w./~$@%+:\\-]+(?:[,;][\w./~$@%+:\\-]*)+")
_LINES: Final = re.compile(r"[^\s\"'<>(){}\[\]]+(?:\s*\n\s*[^\s\"'<>(){}\[\]]+)+\s*")
_SEPARATORS: Final = re.compile(r"[,;:|&<>=@!\"'`(){}\[\]]+")
_URL: Final = re.compile(r"[^\w]*(?:[a-z][a-z0-9.\-]*\+)?(?:https?|wss?|s?ftps?|ssh|git)://[\w\[]", re.IGNORECASE)
"""What leads to another machine; in a URL of any other scheme, paths are looked for."""
_FIRST: Final = re.compile(r"-{1,2}\w?(?=[/\\~$.])|[^\w/\\~$.]+")
"""An option of one letter that a path is written to, and signs before one."""
_CLIMBS: Final = re.compile(r"(?:^|[/\\])\.\.(?=[/\\])|[/\\]\.\.$")
_TOP: Final = re.compile(r"[/\\]+([^/\\]+)")
_AFTER_HOST: Final = re.compile(r"//\w[^/\\]*(?=[/\\])")
_TOPS: Final = frozenset({"/", "/*", "..", "../"})
_SHELL: Final = re.compile(
    r"(?P<space>\s+)|(?P<ends>[;&|()<>`]+)|\\(?P<escaped>.)|'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\""
    r"|[^\s;&|()<>`\\'\"]+|.",
    re.DOTALL,
)
_OPTION: Final = re.compile(r"-\w(?=[/.])|(?<![\w\-])-{1,2}\w[\w\-]*=")
_MAGIC: Final = re.compile(r"[*?\[{]")
_CHOICES: Final = 32
"""Steps in which the braces of one word are expanded."""
_BRACES: Final = re.compile(r"\{([^{},]{0,256}(?:,[^{},]{0,256})+)\}")
_RANGE: Final = re.compile(r"\{(\w)\.\.(\w)(?:\.\.-?\d+)?\}")
"""The letters from one to another, as in `/et{a..d}`: those of a pattern."""
_DOTS: Final = re.compile(r"[{,][./\\]+[,}]")
"""A choice that can only lead upwards."""
_NO_HOME: Final = re.compile(r"~(?=[+\-]?(?:[/\\]|\Z)|[^\W\d][\w.\-]*[/\\])")
"""The home of a user who is not on this machine, and the folder that a shell was in before."""


def listed(text: str) -> list[str]:
    """Return the items of a text that is only a list, separated by commas, semicolons or line feeds."""
    if _ITEMS.fullmatch(text):
        return re.split("[,;]", text)
    return text.split() if _LINES.fullmatch(text) else []


def without_numbered(text: str) -> str:
    """Return a text as a shell reads it that has no numbered parameters: `$1../x` is `../x`."""
    return _NUMBERED.sub("", text)


def mentioned(text: str, exists: Callable[[str], bool], leaves: Callable[[str], bool]) -> Iterator[str]:
    """Yield the parts of a line that are paths.

    `exists` tells whether a folder is on this machine, `leaves` whether a path or a pattern leads out by a link.
    """
    if "\n" in text.strip():
        return
    for one in dict.fromkeys((text, without_numbered(text))):
        yield from _in_line(one, exists, leaves)
        for command in dict.fromkeys((one, without_choices(one))):
            if any(map(str.isspace, command.strip())):
                yield from _in_shell(command, exists, leaves)
            else:
                yield from _in_word(command, leaves)


def _in_line(text: str, exists: Callable[[str], bool], leaves: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths of a line that is split at white space and signs."""
    for word in _words(text):
        remote = _URL.match(word) is not None
        for part in word.split(",") if remote else _SEPARATORS.split(word):
            path = _located(part)
            for one in (path,) if remote else (path, _AFTER_HOST.sub("", path, count=1), *values(part)):
                top = _TOP.match(one)
                known = top is not None and not _MAGIC.search(top[1]) and exists(f"{os.sep}{top[1]}")
                if known or _CLIMBS.search(one) or (not is_pattern(one) and leaves(one)):
                    yield one


def _in_word(word: str, leaves: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths of a single word, which is no command but may be a pattern of files."""
    for one in _braces(word):
        yield from (value for value in values(one) if value.strip("*?") and leaves(value))
        if _CLIMBS.search(one):
            yield one


def _in_shell(text: str, exists: Callable[[str], bool], leaves: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths of a command that are seen only as a shell reads it: without quotes, and expanded."""
    words = [None, *_shell_words(text), None]
    globs: set[str] = set()
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if word is None:
            continue
        plain = _named(_OPTION.sub("", word, count=1))
        if plain in _TOPS or not plain.strip("*?"):  # elsewhere, a division, a product or dots in prose
            argument = word != plain or after is None or after[0] == "-" or (before or " ")[0] == "-"
            if argument and (plain in _TOPS or leaves(plain)):
                yield plain
            continue
        for one in _braces(word):
            path = _without_home("/".join(map(_named, one.split("/"))))
            top = _TOP.match(path)
            if top is None:
                yield from filter(leaves, values(path))
            elif _MAGIC.search(top[1]):
                globs.add(top[1])
            if len(globs) > MOST:
                raise TooManyReadingsError("it has too many patterns of names")
            if (top is not None and exists(f"{os.sep}{top[1]}")) or (_CLIMBS.search(path) and "/" in path):
                yield path


def _named(part: str) -> str:
    """Return `..` for a pattern that names it, as `.*` does in older shells."""
    return ".." if part[:1] == "." and fnmatchcase("..", part) else part


def _shell_words(text: str) -> list[str | None]:
    """Split a line as shells do; None is where a command ends."""
    words: list[str | None] = [""]
    for found in _SHELL.finditer(text):
        if found["ends"] or found["space"]:
            words += [None, ""] if found["ends"] else [""]
            continue
        quoted = next((found[name] for name in ("escaped", "single", "double") if found[name] is not None), None)
        words[-1] = (words[-1] or "") + (found[0] if quoted is None else _MAGIC.sub("_", quoted))
    return [word for word in words if word != ""]


def _braces(word: str) -> list[str]:
    """Expand the braces of a word: `.{.,}` is `..` and `.`; what leads upwards comes first."""
    done: list[str] = []
    pending = [_RANGE.sub(lambda found: f"[{min(found.groups())}-{max(found.groups())}]", word)]
    for _ in range(_CHOICES):
        if not pending:
            break
        one = pending.pop()
        found = _BRACES.search(one)
        if found is None:
            done.append(one)
        else:
            choices = sorted(found[1].split(","), key=lambda choice: not choice.strip("./\\"))
            pending += [one[: found.start()] + choice + one[found.end() :] for choice in choices]
    if any(map(_DOTS.search, pending)):
        raise TooManyReadingsError("its braces have too many choices")
    return done + pending


def _words(text: str) -> list[str]:
    """Split at invisible characters and at the quotes and commas of all scripts."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(" " if category(one) in _BREAKS or one in _COMMAS else one for one in text)
    return text.split()


_BREAKS: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Pi", "Pf"})
_COMMAS: Final = frozenset("\u060c\u061b\u3001\uff0c\uff1b\u201a\u201e")


def _without_home(text: str) -> str:
    """Replace the home at the start of a text; one that is not known here is outside."""
    return _NO_HOME.sub("/../", os.path.expanduser(text), count=1) if text[:1] == "~" else text  # noqa: PTH111 - as text


def _located(part: str) -> str:
    """Remove the signs before a path, and replace a home at its start."""
    while (found := _FIRST.match(part)) is not None and found.end():
        part = part[found.end() :]
    return _without_home(part)


MOST: Final = 256
"""Readings of one text without quotes; a text with more is refused."""
_OF_A_STRING: Final = 4
"""Readings that each quote in the text adds: one may begin or end a string that a list holds."""
_LARGEST: Final = 1 << 20
"""Characters of all readings together, for a short text."""
_TIMES: Final = 32
"""Characters that each one of the text adds."""

_BLANK: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_IN_BRACKETS: Final = re.compile(r"<(.*)>|\((.*)\)|\[(.*)\]|\{(.*)\}|[bru]?(?:\"(.*)\"|'(.*)'|`(.*)`)", re.DOTALL)
_END_TAG: Final = re.compile(r"(?:</[a-zA-Z][\w.:\-]*\s*>\s*)+")
"""Tags of markup. What is in it could only be in the root folder, which `mentioned` looks into."""
_LIST: Final = re.compile(r"\w*[(\[{].*[)\]}]", re.DOTALL)
_QUOTE: Final = re.compile(r"[\"']")
_STRING: Final = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"|'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_SCHEME: Final = re.compile(r"(\w[\w+.\-]+):+(.*)", re.DOTALL)
_PREFIX: Final = re.compile(r"(?:[=@<]|\d?>{1,2}|-{1,2}\w?(?=[/\\~$.]))\s*(.*)", re.DOTALL)
"""A redirection, a sign for "the contents of", and an option of one letter that a path is written to."""
_NAMED: Final = re.compile(r"(?:@|-{0,2}\w[\w.\-]*=)(.*)", re.DOTALL)
_LINKS: Final = re.compile(rf"::|{re.escape(os.pathsep)}(?!//)")
_FILE_URL: Final = re.compile(r"(?<![^\W_])file:[^\s\"'<>`]*", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"[/\\]{2}([^/\\?#]*)(.*)", re.DOTALL)
_REST_OF_A_URL: Final = re.compile(r"[?#;]")
_ESCAPE: Final = re.compile(
    r"[\\%]u([0-9a-fA-F]{4})|(?:\\x|=)([0-9a-fA-F]{2})|\\U000([0-9a-fA-F]{5})|\\[ux]\{([0-9a-fA-F]{1,5})\}"
    r"|\\([0-3]?[0-7]{2})|\\([nrt\"'/\\])|\\N\{([A-Z][A-Z \-]{1,80})\}"
)
_UTF_7: Final = re.compile(r"\+[a-zA-Z0-9/]{2,}-?")
_ENCODED_WORD: Final = re.compile(r"=\?[\w\-]+\?[bq]\?[^?\s]*\?=", re.IGNORECASE)
"""A word of a mail's header."""
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_OVERLONG: Final = re.compile(r"%(?:c|e0%8|f0%80%8)([01])%([89ab][0-9a-f])", re.IGNORECASE)
"""An ASCII character in two to four bytes of UTF-8, which only old decoders take."""
_SLASHES: Final = str.maketrans("\u2044\u2215\u29f8\u2216\u29f5", "///\\\\")
"""What some systems replace by a slash where a name may hold no such character."""
_VARIABLE: Final = re.compile(
    r"\$\{(?:env:|!)?(\w++|[@*#?$!\-])[^{}]*+\}|\$(?:env:)?([a-z_]\w*)|\$([@*#?!\-]|\$(?![\w{]))|%([a-z_]\w*)%|!([a-z_]\w*)!",
    re.IGNORECASE,
)
"""A variable of any shell; one that is not set is empty there."""
_NUMBERED: Final = re.compile(r"\$\d")
"""A parameter of a script or a function, which is empty without one; in prose, a price."""
_CUT: Final = re.compile(r"\$\{(\w+)[:#%/][^{}]*\}|%(\w+):[^%]*%")
"""A part of a variable's value; that of a path may be a slash."""
_INSTEAD: Final = re.compile(r"\$\{(?:\w+|[@*#?$!\-]):?[\-=+]([^{}]*)\}")
"""What a shell takes in place of a variable."""
_SUBSTITUTED: Final = re.compile(r"(?<=[./\w])(?:\$\([^()]*\)|`[^`]*`)(?=[./\w])")
"""The output of a command inside a word, which may be empty."""
_GAP: Final = re.compile(r"\$(?:IFS\b|\{IFS\b[^{}]*\})(?:\$[0-9@*])*")
"""White space that a shell fills in, and parameters after it, which are empty."""
_OPENS: Final = frozenset({"Pi", "Pf", "Ps"})
_CLOSES: Final = frozenset({"Pi", "Pf", "Pe"})
_DROPPED: Final = str.maketrans("", "", "\t\r\n")
_LOCAL: Final = frozenset({"file", "local"})
_NETWORK: Final = frozenset({"http", "https", "ws", "wss"})
_HERE: Final = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
_SUSPECT: Final = re.compile(r"[/\\~$%&+=!:<>\"'`\x00-\x20\x7f]|\.\.|[^\x00-\x7f]")


class TooManyReadingsError(ValueError):
    """A text that is wrapped too often to be looked through."""


def readings(text: str) -> tuple[str, ...]:
    """Return the text and everything that it may be read as; raises `TooManyReadingsError`."""
    if not _SUSPECT.search(text):
        return (text,)
    found = {text: None}
    most = MOST + _OF_A_STRING * sum(map(text.count, "\"'"))
    room = _LARGEST + _TIMES * len(text)
    for one in (pending := [text]):
        for step in _STEPS:
            for result in step(one):
                if result not in found:
                    found[result] = None
                    pending.append(result)
                    room -= len(result)
                if len(found) > most or room < 0:
                    raise TooManyReadingsError("it can be read in too many ways")
    return tuple(found)


def _trimmed(text: str) -> Iterator[str]:
    """Leave out what is not seen at the ends, as `str.strip` and readers of URLs do."""
    start, end = 0, len(text)
    while start < end and category(text[start]) in _BLANK:
        start += 1
    while end > start and category(text[end - 1]) in _BLANK:
        end -= 1
    yield text[start:end]
    joined = text.translate(_DROPPED)
    if " " not in joined or _SCHEME.fullmatch(joined):
        yield joined


def _unwrapped(text: str) -> Iterator[str]:
    if _END_TAG.fullmatch(text):
        return
    found = _IN_BRACKETS.fullmatch(text)
    if found is not None:
        yield next(group for group in found.groups() if group is not None)
    elif text[1:] and category(text[0]) in _OPENS and category(text[-1]) in _CLOSES:  # the quotes of all scripts
        yield text[1:-1]
    if _is_line(text):
        yield from _FILE_URL.findall(text)
        if (prefixed := _PREFIX.fullmatch(text)) is not None:
            yield prefixed[1]
    yield from listed(text)


def _strings(text: str) -> Iterator[str]:
    """Return what is between quotes; after one that nothing closes, all of its kind are escaped and close nothing."""
    at, unclosed = 0, ""
    while (quote := _QUOTE.search(text, at)) is not None:
        at = quote.end()
        if quote[0] in unclosed:
            continue
        found = _STRING.match(text, quote.start())
        if found is None:
            unclosed += quote[0]
        else:
            yield found[1] if found[1] is not None else found[2]
            at = found.end()


def _parts(text: str) -> Iterator[str]:
    """Return the strings of a list or a call, the value of what has a name, and the links of a chain."""
    if _LIST.fullmatch(text.strip()):
        yield from _strings(text)
    named = _NAMED.fullmatch(text)
    if named is not None:
        yield from named[1].split("&")
    if ":" in text and not any(map(str.isspace, text)):
        yield from _LINKS.split(text)


def _decoded(text: str) -> Iterator[str]:
    yield unquote(text)
    yield _OVERLONG.sub(lambda found: chr(64 * int(found[1]) + (int(found[2], 16) & 0x3F)), text)
    if not text.isascii():
        yield normalize("NFKC", text)
        yield text.translate(_SLASHES)
    if not (text.isascii() and text.isprintable()):
        yield "".join(one for one in text if one in "\t\r\n" or category(one) not in {"Cc", "Cf"})
    yield text.replace("+", " ")  # as forms write spaces
    if _is_line(text):
        if _ENCODED_WORD.search(text):
            with suppress(MessageError, LookupError, ValueError):
                yield str(make_header(decode_header(text)))
        yield unescape(text)
        yield _ESCAPE.sub(_character, text)
        yield _UTF_7.sub(lambda found: found[0].encode().decode("utf-7", "ignore"), text)


def _character(found: re.Match[str]) -> str:
    if found[7]:
        with suppress(KeyError):
            return lookup(found[7])
        return found[0]
    if found[6]:
        return _ESCAPED.get(found[6], found[6])
    return chr(int(found[5], 8) if found[5] else int(found[1] or found[2] or found[3] or found[4], 16))


def _is_line(text: str) -> bool:
    return "\n" not in text.strip()


def _without_scheme(text: str) -> Iterator[str]:
    """Return the place that a URL names on this machine, or the URL inside it; one on the network has neither."""
    found = _SCHEME.fullmatch(text)
    if found is None:
        return
    rest = found[2]
    authority = _AUTHORITY.fullmatch(rest)
    scheme = found[1].lower().rpartition("+")[2]
    if authority is not None and scheme not in _LOCAL and authority[1] not in (_HERE, {""})[scheme in _NETWORK]:
        if authority[1][0] in "~$.":  # no host
            yield _REST_OF_A_URL.split(authority[1] + authority[2], maxsplit=1)[0]
        return
    if authority is None:
        path = rest
    else:
        path = authority[2] if authority[1].lower() in _HERE else f"//{authority[1]}{authority[2]}"
    for one in (path, path.replace("\\", "/")):  # some readers of URLs take the one for the other
        yield one
        yield _REST_OF_A_URL.split(one, maxsplit=1)[0]


def _expanded(text: str) -> Iterator[str]:
    yield _without_home(text)
    text = _SUBSTITUTED.sub("", _GAP.sub(" ", text))
    yield _CUT.sub(lambda found: os.environ.get(found[found.lastindex or 0], "")[:1], text)
    yield _INSTEAD.sub(r"\1", text)
    yield _VARIABLE.sub(lambda found: os.environ.get(found[found.lastindex or 0], ""), text, count=MOST)


_STEPS: Final = (_trimmed, _unwrapped, _parts, _decoded, _without_scheme, _expanded)
