"""The dialects that are found: those of a package's modules, and those that other packages declare."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, cast

from toolfmt.dialect.record import AnyDialect, Dialect
from toolfmt.errors import BrokenDialectError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "toolfmt.dialects"


def package_dialects(package: str) -> Iterator[AnyDialect]:
    """Import every public module of a package and give its dialects, in the order of the modules' names."""
    for found in pkgutil.iter_modules(import_module(package).__path__):
        if not found.name.startswith("_"):
            module = import_module(f"{package}.{found.name}")
            yield from getattr(module, "DIALECTS", None) or (module.DIALECT,)


def plugin_dialect(point: EntryPoint) -> AnyDialect:
    """Load a third party's dialect; raises `BrokenDialectError`, whatever its code raised."""
    try:
        value: object = point.load()
    except Exception as error:
        raise BrokenDialectError(point.name, point.value, f"{type(error).__name__}: {error}") from error
    if not isinstance(value, Dialect):
        raise BrokenDialectError(point.name, point.value, f"it is a {type(value).__name__}, not a toolfmt.Dialect")
    return cast("AnyDialect", value)


def plugins() -> list[EntryPoint]:
    """List what other packages declare; sorted, so that of two who want one name the same one always has it."""
    if not _may_be_declared():
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _may_be_declared() -> bool:
    """Whether a package may declare a dialect: importing `importlib.metadata` takes longer than all of this search."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    return any(map(_declares, sys.path))


def _declares(path: str) -> bool:
    """Whether a package in a folder declares a dialect, or may in what is no folder, such as a ZIP file."""
    try:
        names = [package.name for package in Path(path).iterdir()]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if any(name.endswith(".egg") for name in names):
        return True
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            with suppress(OSError):
                if GROUP.encode() in Path(path, name, "entry_points.txt").read_bytes():
                    return True
    return False
