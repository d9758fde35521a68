r"""Arguments that are paths must lead to where a project may be touched.

    ProjectBoundaries(["/srv/app"])

    {"path": "src/main.py"}           /srv/app/src/main.py: runs
    {"path": "../../etc/passwd"}      outside_project
    {"note": "file:///etc/passwd"}    outside_project
    {"files": ["<URL:file:///etc/passwd>", "~/.ssh/id_rsa", "C:\\Windows", "link/to/elsewhere"]}    all of them too

Every text is looked at, whatever its argument is called, and the keys of open objects too: what leads out of the
project in any way that a tool may read it is refused. The schema decides how strictly: a `format` of paths makes every
text a path; one whose texts look like paths, such as `regex`, makes it none, and so does a value that the schema lists.
In doubt a text is refused; `text={"tool": ["argument"]}` lets it pass.
"""

from __future__ import annotations

import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from glob import iglob
from itertools import islice
from pathlib import Path, PurePath
from typing import Final, Literal, NamedTuple, TypeAlias

from toolfmt.arguments import checked, path_of
from toolfmt.execution.events import log
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.links import Folders, is_pattern
from toolfmt.execution.policies.policy import Candidate
from toolfmt.execution.policies.readings import mentioned, readings, without_numbered
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.places import is_combined, item_schema, property_schema, reach, types

ValueKind: TypeAlias = Literal["path", "text", "unknown"]
"""What a value is by its schema, or because the program says so."""
PATHS: Final = frozenset({"path", "file-path", "directory-path"})
"""What pydantic writes for `Path`, `FilePath` and `DirectoryPath`."""
BASE64: Final = frozenset({"base64", "base64url"})
"""What pydantic writes for `Base64Str` and its kind, which the tool gets decoded."""
_URL_SAFE: Final = str.maketrans("+/", "-_")
NO_PATHS: Final = frozenset({"json-pointer", "relative-json-pointer", "regex"})
"""The formats of JSON Schema (draft 2020-12, validation, section 7.3) whose texts look like paths but are not paths."""
LONGEST: Final = 4096
"""Characters of the longest path that an operating system takes."""
MOST_MENTIONS: Final = 500
"""Paths among other things in one text; with more it is refused."""
_DRIVE: Final = re.compile(r"\s*[a-zA-Z]:")
_DRIVE_PATH: Final = re.compile(r"\s*[a-zA-Z]:[\\/]")
_DEVICE: Final = re.compile(r"(?:\A|[\\/])(?:con|prn|aux|nul|com[1-9]|lpt[1-9]) *(?:[.:][^\\/]*)?\Z", re.IGNORECASE)
_OF_WINDOWS: Final = re.compile(r"\s*\\(?:\\|\?\?\\)|\s*(?:\\\w\w[\w .~\-]*){2,}\Z")
"""A share, a path of the kernel's, and a path from the root of a drive."""
_COMMENT: Final = re.compile(r"\s*//[ \t]")
"""A comment of a program: as a path, its first folder's name begins with a space."""
_FILE_URL: Final = re.compile(r"file:", re.IGNORECASE)
_NOTHING: Final[frozenset[str]] = frozenset()


class PathValue(NamedTuple):
    """A value that may be a path, and its place."""

    pointer: str
    value: JsonValue
    kind: ValueKind


@checked
class ProjectBoundaries:
    """Blocks calls with paths outside the roots. Every way in which a tool may read a path is checked."""

    step = "project"

    def __init__(
        self,
        roots: Iterable[str | os.PathLike[str]],
        *,
        parameters: Mapping[str, Iterable[str]] | None = None,
        text: Mapping[str, Iterable[str]] | None = None,
        base: str | os.PathLike[str] | None = None,
    ) -> None:
        """By tool name, `parameters` lists the arguments that are paths, and `text` those that are not.

        Relative paths are resolved from `base`, by default the first root. Raises ValueError without a root, and
        OSError for one that no folder can be.
        """
        self._roots = [_real(path_of(root).absolute()) for root in roots]
        if not self._roots:
            raise ValueError("roots must name at least one folder")
        self._base = path_of(base).absolute() if base is not None else self._roots[0]
        self._paths = {tool: frozenset(names) for tool, names in (parameters or {}).items()}
        self._text = {tool: frozenset(names) for tool, names in (text or {}).items()}
        self.argument_names = {
            tool: self._paths.get(tool, _NOTHING) | self._text.get(tool, _NOTHING)
            for tool in self._paths.keys() | self._text.keys()
        }
        self.tool_names = tuple(self.argument_names)

    def check(self, candidate: Candidate) -> Blocked | None:
        """Check every text in the arguments."""
        name = candidate.call.name
        schema = candidate.tool.parameters if candidate.tool is not None else None
        search = _Search(self._paths.get(name, _NOTHING), self._text.get(name, _NOTHING))
        for found in search.texts(candidate.call.arguments, schema):
            if not isinstance(found.value, str):
                return Blocked(f"{found.pointer}: a path is text, not {found.value!r}", "outside_project")
            if not self._inside(found.value, found.kind):
                return Blocked(self._refusal(name, found), "outside_project")
        return None

    @staticmethod
    def _refusal(tool: str, found: PathValue) -> str:
        argument = found.pointer.rpartition("/")[2] if found.pointer.count("/") == 1 else "the argument's name"
        if found.kind != "path":
            hint = f"ProjectBoundaries(..., text={{{tool!r}: [{argument!r}]}})"
            log.warning(
                "%r of %r is refused as a path outside the project; if it is text: %s", found.pointer, tool, hint
            )
        return f"{found.pointer}: {found.value!r} is outside the project; use a path inside it"

    def _inside(self, text: str, kind: ValueKind) -> bool:
        try:
            read = readings(text)
            if kind == "text" and not any(map(_FILE_URL.match, read)):
                return True
            spelled = {*read, *map(without_numbered, read)} if kind == "path" else read  # else a price: `$5/month`
            paths = {path: None for one in spelled for path in _spellings(one, kind)}
            folders = Folders(self._base, self._under)
            found = () if kind == "path" else _mentions(read, partial(self._leaves, folders))
            mentions = dict.fromkeys(islice(found, MOST_MENTIONS + 1))
            paths.update(mentions)
            if len(paths) > MOST_MENTIONS + len(read) * 4:
                return False
            return all(map(self._under, paths)) and not any(map(folders.lead_out, filter(is_pattern, mentions)))
        except (OSError, RuntimeError, ValueError):  # links in a circle, a drive, a name too long, too many readings
            return False

    def _under(self, path: str | Path) -> bool:
        real = _real(self._base / path)
        return any(real == root or root in real.parents for root in self._roots)

    def _leaves(self, folders: Folders, path: str) -> bool:
        """Whether a pattern, or a relative path in a folder that is there, is outside."""
        if path[:1] in {"", "\\", "~"} or not path.strip(".") or len(path) > LONGEST or "\0" in path:
            return False
        if is_pattern(path):
            return folders.lead_out(path)
        there = path.rpartition("/")[0] or path
        return path[0] != "/" and os.path.lexists(self._base / there) and not self._under(path)


class _Search(NamedTuple):
    """The arguments of one tool that the program declares to be paths, and those that it declares to be text."""

    paths: frozenset[str]
    text: frozenset[str]

    def texts(
        self, value: JsonValue, schema: JsonObject | None, pointer: str = "", kind: ValueKind = "unknown"
    ) -> Iterator[PathValue]:
        """Find every text, and whatever else is given for a path; `kind` is that of what holds the value."""
        nodes = [node for node, _ in reach(schema)]
        if kind == "unknown":
            kind = _kind(nodes, value)
        if is_object(value):
            keys = "path" if kind == "path" or _keys_are_paths(nodes) else kind
            for key, item in value.items():
                inner = property_schema(schema, key), f"{pointer}/{key}"
                if not any(is_object(node.get("properties")) and key in node["properties"] for node in nodes):
                    yield PathValue(inner[1], key, keys)
                kind_inside: ValueKind = "path" if key in self.paths else "text" if key in self.text else kind
                yield from self.texts(item, *inner, kind_inside)
        elif is_array(value):
            for index, item in enumerate(value):
                yield from self.texts(item, item_schema(schema, index), f"{pointer}/{index}", kind)
        elif isinstance(value, str) or (kind == "path" and value is not None):
            yield PathValue(pointer, value, kind)
            if isinstance(value, str) and any(node.get("format") in BASE64 for node in nodes):
                with suppress(ValueError):
                    yield PathValue(pointer, urlsafe_b64decode(value.translate(_URL_SAFE)).decode(), kind)


def _kind(nodes: list[JsonObject], value: JsonValue) -> ValueKind:
    if any(node.get("format") in PATHS for node in nodes):
        return "path"
    listed = [node for node in nodes if "const" in node or "enum" in node]
    if any(value in (node.get("enum") or [node.get("const")]) for node in listed):
        return "text"
    texts = [node for node in nodes if not is_combined(node) and "string" in (types(node) or ("string",))]
    return "text" if texts and all(node.get("format") in NO_PATHS for node in texts) else "unknown"


def _keys_are_paths(nodes: list[JsonObject]) -> bool:
    """Whether the schema of an object says that its keys are paths, as pydantic does for `dict[Path, str]`."""
    names = [node["propertyNames"] for node in nodes if is_object(node.get("propertyNames"))]
    return any(node.get("format") in PATHS for name in names for node, _ in reach(name))


def _spellings(text: str, kind: ValueKind) -> Iterator[str]:
    """Return the paths that one reading of a text means; raises ValueError for what is outside anyway."""
    surely = kind == "path"
    if surely and _DEVICE.search(text):
        raise ValueError("a device of Windows, which no folder holds")
    if "\0" in text:
        raise ValueError("a null character, at which some end a path")
    if os.name != "nt" and (_DRIVE if surely else _DRIVE_PATH).match(text):
        raise ValueError("a drive, which is no folder here")
    if not surely and _COMMENT.match(text):
        return
    slashed = text.replace("\\", "/")
    also = slashed != text and (surely or _OF_WINDOWS.match(text) or ".." in slashed.split("/"))
    for path in (text, slashed) if also else (text,):
        # As pathlib and `normpath` shorten it: `link/..` is `.` to the one, and the target's parent to the other.
        for one in (str(PurePath(path)), os.path.normpath(path)):
            if len(one) > LONGEST and (surely or ("\n" not in one and ".." in PurePath(one).parts)):
                raise ValueError("a path that is too long to be followed")
            if surely or ("\n" not in one.strip() and len(one) <= LONGEST):
                yield one  # else nothing that could be opened


def _mentions(read: Iterable[str], leaves: Callable[[str], bool]) -> Iterator[str]:
    """Return the paths among other things in the readings of a text, each once."""
    exists, leaves = cache(_exists), cache(leaves)
    found: set[str] = set()
    for one in read:
        for path in mentioned(one, exists, leaves):
            if path not in found:
                found.add(path)
                yield path


def _exists(path: str) -> bool:
    """Whether there is such a file; `path` may be a pattern."""
    return any(iglob(path))  # noqa: PTH207 - the pattern is absolute


def _real(path: Path) -> Path:
    return Path(os.path.normcase(path.resolve()))
