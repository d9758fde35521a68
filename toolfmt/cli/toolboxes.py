"""Tools that can be run, by the word of `--tools`: Python's own, `module:registry`, or MCP servers, `mcp.json`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, TypeAlias

from toolfmt.cli.errors import UsageError
from toolfmt.errors import ToolFmtError
from toolfmt.execution.executor import Executor
from toolfmt.tools import ToolRegistry

OpenedExecutor: TypeAlias = AbstractAsyncContextManager[Executor]
_IMPORTING: Final = (__file__, str(importlib.__file__), "<frozen importlib")
"""Where the lines stand that import a module."""


def toolbox(source: str) -> OpenedExecutor:
    """Open the tools that a word names, for as long as they are run; raises `UsageError` for a word of no kind.

    Naming a module runs it, as `python -m` would from the current directory.
    """
    loader = _LOADERS.get(Path(source).suffix.lower(), _from_module)
    return loader(source)


@asynccontextmanager
async def _from_module(source: str) -> AsyncGenerator[Executor]:
    module, colon, path = source.partition(":")
    if not (module and colon and path):
        raise UsageError(f"--tools takes module:registry, or a .json file of MCP servers, not {source!r}")
    if not all(word.isidentifier() for word in module.split(".")):
        raise UsageError(f"--tools takes a module's name as `import` does, such as weather:registry, not {source!r}")
    value: Any = _imported(module)
    for at, name in enumerate(path.split(".")):
        if not hasattr(value, name):
            whole = ".".join((module, *path.split(".")[:at]))
            raise UsageError(f"{whole} has no {name!r}; it has {_names(value)}")
        value = getattr(value, name)
    if isinstance(value, Executor):
        yield value
        return
    try:
        registry = value if isinstance(value, ToolRegistry) else ToolRegistry(value)
    except (ToolFmtError, TypeError) as error:
        raise UsageError(f"{source} holds no tools: {error}") from None
    if not any(registry.function(tool.name) is not None for tool in registry):
        raise UsageError(f"{source} has no tool that can be run: register functions")
    try:
        executor = Executor(registry)
    except (ToolFmtError, ValueError) as error:
        raise UsageError(
            f"{source}: {error}; --tools may name an Executor too, made with what its tools need"
        ) from None
    yield executor


def _imported(module: str) -> object:
    here = os.getcwd()  # noqa: PTH109 - as a word of the import path
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UsageError(f"importing {module} failed: {_place(error)}{error}") from error
        raise UsageError(f"there is no module {error.name!r}, here or installed") from None
    except (Exception, SystemExit) as error:  # whatever the module's own code raises
        raise UsageError(f"importing {module} failed: {_place(error)}{type(error).__name__}: {error}") from error


def _place(error: BaseException) -> str:
    """Name the line that is wrong, or that raised it."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}: "
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_IMPORTING)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _names(value: object) -> str:
    public = [name for name in vars(value) if not name.startswith("_")] if hasattr(value, "__dict__") else []
    return ", ".join(public[:10]) + (" and more" if len(public) > 10 else "") if public else "nothing"  # noqa: PLR2004 - enough to recognise it


def _from_mcp(source: str) -> OpenedExecutor:
    if not Path(source).is_file():
        raise UsageError(f"{source}: there is no such file")
    return _connected(source)


@asynccontextmanager
async def _connected(source: str) -> AsyncGenerator[Executor]:
    from toolfmt.mcp import connect_all

    async with connect_all(source) as servers:
        yield Executor(ToolRegistry(), servers=servers)


_LOADERS: Final[Mapping[str, Callable[[str], OpenedExecutor]]] = {".json": _from_mcp}
"""How tools are opened, by the suffix of the word that names them."""
