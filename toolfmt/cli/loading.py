"""What commands take from Python code: an object by its module and name, `weather:registry`."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from toolfmt.cli.errors import UsageError
from toolfmt.errors import close_names


def load(reference: str) -> Any:
    """Import an object; modules in the current directory are found too.

    Raises `UsageError` for what is no such reference, and for a module or name that does not exist.
    """
    module_name, colon, path = reference.partition(":")
    if not (module_name and colon and path):
        raise UsageError(f"{reference!r} names no Python object: write module:name, such as weather:registry")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, and one that it needs is not
        raise UsageError(f"{reference}: there is no module {error.name!r} here or on Python's path") from None
    for name in path.split("."):
        if not hasattr(found, name):
            close = close_names(name, {one: one for one in dir(found) if not one.startswith("_")})
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f"{reference}: there is no {name!r} in it{hint}")
        found = getattr(found, name)
    return found
