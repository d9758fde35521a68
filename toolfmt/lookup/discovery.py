"""Finds dialects: the package's own, one file each, and those of third parties.

The package's own are the modules of `toolfmt.dialects`, each with a `DIALECT`
or, for a family, a tuple `DIALECTS`. Third parties declare an entry point whose
value is a `Dialect`:

    [project.entry-points."toolfmt.dialects"]
    acme = "acme_tools.wire:DIALECT"
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, cast

from toolfmt.dialect.record import AnyDialect, Dialect
from toolfmt.errors import BrokenDialectError

if TYPE_CHECKING:
    from collections.abc import Iterator
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
