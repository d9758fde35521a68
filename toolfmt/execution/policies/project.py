r"""Arguments that are paths must lead to where a project may be touched.

    ProjectBoundaries(["/srv/app"])

    {"path": "src/main.py"}           /srv/app/src/main.py: runs
    {"path": "../../etc/passwd"}      outside_project
    {"files": ["file:///etc/passwd", "~/.ssh/id_rsa", "C:\\Windows", "link/to/elsewhere"]}    all of them too

A path is an argument whose schema says so (`format: path`, `file-path`,
`directory-path`), whose name does (`path`, `FILE`, `destination`, `output_dir`), or
that is named here, the keys of an open object too; and any `file:` URL, wherever it
stands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from toolfmt.execution.hooks import Blocked
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.places import item_schema, property_schema, reach

if TYPE_CHECKING:
    from toolfmt.execution.policies.policy import Candidate
    from toolfmt.model import JsonObject, JsonValue

FORMATS: Final = frozenset({"path", "file-path", "directory-path"})
"""What pydantic writes for `Path`, `FilePath` and `DirectoryPath`."""
NAMED: Final = re.compile(
    r"(?i:(?:.*[_-])?(?:path|file|filename|filepath|file_?name|dir|directory|dirname|folder|cwd|workdir|src|dst|"
    r"source|dest|destination|target)s?)|"
    r".*[a-z0-9](?:Path|File|FileName|Filename|Dir|Directory|Folder)s?",
    re.ASCII,
)
"""The names of arguments that are paths."""
_FILE_URL: Final = re.compile(r"file:\S", re.IGNORECASE)
_NO_PART_OF_A_URL: Final = str.maketrans("", "", "\t\r\n")
_BEFORE_A_URL: Final = "".join(map(chr, range(0x21)))
_DRIVE: Final = re.compile(r"\s*[a-zA-Z]:")


class Found(NamedTuple):
    """A value that is meant as a path, and where it stands."""

    pointer: str
    value: JsonValue


class ProjectBoundaries:
    """Blocks calls with paths outside the roots, however they are written: each reading that a tool may have counts."""

    step = "project"

    def __init__(
        self,
        roots: Iterable[str | os.PathLike[str]],
        *,
        parameters: Mapping[str, Iterable[str]] | None = None,
        names: re.Pattern[str] = NAMED,
        base: str | os.PathLike[str] | None = None,
    ) -> None:
        """`parameters` names further paths, by the tool's name; `names` is how paths are called in any tool.

        Relative paths begin at `base`, else at the first root. Raises ValueError without a root.
        """
        if isinstance(roots, (str, os.PathLike)):
            raise TypeError(f"roots is a list of folders: put brackets around {roots!r}")
        self._roots = [_real(Path(root).absolute()) for root in roots]
        if not self._roots:
            raise ValueError("a project has at least one root")
        self._base = Path(base).absolute() if base is not None else self._roots[0]
        self._names = names
        self._parameters = {tool: frozenset(names) for tool, names in (parameters or {}).items()}

    def check(self, candidate: Candidate) -> Blocked | None:
        """Look at every argument that is a path."""
        schema = candidate.tool.parameters if candidate.tool is not None else None
        search = _Search(self._names, self._parameters.get(candidate.call.name, frozenset()))
        for found in search.paths(candidate.call.arguments, schema):
            if not isinstance(found.value, str):
                return Blocked(f"{found.pointer}: a path is text, not {found.value!r}", "outside_project")
            if not self._inside(found.value):
                return Blocked(f"{found.pointer}: {found.value!r} is outside the project", "outside_project")
        return None

    def _inside(self, text: str) -> bool:
        try:
            return all(self._under(reading) for reading in _readings(text))
        except (OSError, RuntimeError, ValueError):  # links in a circle, a null character, a name too long
            return False

    def _under(self, path: str) -> bool:
        real = _real(self._base / path)
        return any(real == root or root in real.parents for root in self._roots)


class _Search(NamedTuple):
    """What is a path by its name: in any tool, and in this one."""

    names: re.Pattern[str]
    told: frozenset[str]

    def paths(
        self, value: JsonValue, schema: JsonObject | None, pointer: str = "", *, named: bool = False, told: bool = False
    ) -> Iterator[Found]:
        """Find what is meant as a path; `named` and `told` say so of what holds the value."""
        told = told or any(node.get("format") in FORMATS for node, _ in reach(schema))
        if is_object(value):
            keyed = told or _keys_are_paths(schema)
            for key, item in value.items():
                inner = property_schema(schema, key), f"{pointer}/{key}"
                if keyed or _FILE_URL.match(_as_url(key)) or (named and not _declared(schema, key)):
                    yield Found(inner[1], key)
                by_name = named or self.names.fullmatch(key) is not None
                yield from self.paths(item, *inner, named=by_name, told=key in self.told)
        elif is_array(value):
            for index, item in enumerate(value):
                inner = item_schema(schema, index), f"{pointer}/{index}"
                yield from self.paths(item, *inner, named=named, told=told)
        elif isinstance(value, str):
            if named or told or _FILE_URL.match(_as_url(value)):
                yield Found(pointer, value)
        elif told and value is not None:
            yield Found(pointer, value)


def _keys_are_paths(schema: JsonObject | None) -> bool:
    """Whether the schema of an object says that its keys are paths, as pydantic does for `dict[Path, str]`."""
    names = (node.get("propertyNames") for node, _ in reach(schema))
    return any(is_object(one) and any(node.get("format") in FORMATS for node, _ in reach(one)) for one in names)


def _declared(schema: JsonObject | None, key: str) -> bool:
    members = (node.get("properties") for node, _ in reach(schema))
    return any(is_object(one) and key in one for one in members)


def _as_url(text: str) -> str:
    """Leave out what readers of URLs leave out: control characters at the ends, line breaks and tabs anywhere."""
    return text.strip(_BEFORE_A_URL).translate(_NO_PART_OF_A_URL)


def _readings(text: str) -> Iterator[str]:
    """Give every path that a tool may understand: as it is, trimmed, with what stands for something else read."""
    url = _as_url(text)
    if _FILE_URL.match(url):
        parts = urlsplit(url)
        if parts.netloc not in {"", "localhost"}:
            raise ValueError("a file of another machine")
        text = parts.path
    if os.name != "nt" and _DRIVE.match(unquote(text)):
        raise ValueError("a drive, which is no folder here")
    for spelt in {way(one) for one in (text, unquote(text)) for way in _SPELLINGS}:
        for path in {spelt, os.path.expanduser(spelt), os.path.expandvars(spelt)}:  # noqa: PTH111 - as text: a tool may or may not do it
            yield path
            yield os.path.normpath(path)  # `link/..` is `.` to some, and the target's parent to others


_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    str.strip,
    lambda text: text.replace("\\", "/"),
    lambda text: text.strip().replace("\\", "/"),
)


def _real(path: Path) -> Path:
    return Path(os.path.normcase(path.resolve()))
