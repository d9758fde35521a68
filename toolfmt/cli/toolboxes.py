"""Read the tools that `--tools` names; the kind of input is recognised, the same in every command.

tools.json, tools.yaml, -      definitions in any provider's shape; nothing to run
mcp.json                       the tools of MCP servers
tools.py, tools.py:registry    the functions of a Python file, or an object of it
weather:registry               an object of a module, imported from the current directory too
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import isfunction
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.cli import inputs
from toolfmt.cli.inputs import STDIN
from toolfmt.cli.output import UsageError, note, stdout_to_stderr
from toolfmt.errors import DuplicateToolError, ParseError, SchemaError, ToolFmtError

if TYPE_CHECKING:  # `toolfmt parse` imports this module, and runs nothing
    from toolfmt.execution.executor import Executor
    from toolfmt.model import ToolDefinition
    from toolfmt.tools import ToolRegistry

OpenedExecutor: TypeAlias = AbstractAsyncContextManager["Executor"]
TOOLS: Final = "tools.json, tools.yaml, tools.py, module:object or mcp.json"
"""What `--tools` takes, for a command's help."""
RUNNERS: Final = "tools.py, module:object or mcp.json"
KINDS: Final = (
    "a JSON or YAML file of tools, a Python file of functions (tools.py), module:object, or MCP servers' mcp.json"
)
_PYTHON: Final = ".py"
_SERVERS: Final = ("mcpServers", "servers")
_IMPORTING: Final = (__file__, str(importlib.__file__), "<frozen importlib")
"""Files whose lines import a module."""


def read_tools(source: str | None, *, noted: bool = True) -> tuple[ToolDefinition, ...]:
    """Read the tools that `source` names; none for None. If it has none, this is `noted`.

    Python code is run and MCP servers are started; what they print goes to stderr.
    """
    found = () if source is None else _read(source)
    if source is not None and noted and not found:
        note(f"{'stdin' if source == STDIN else source} has no tools: the list is empty")
    return found


def _read(source: str) -> tuple[ToolDefinition, ...]:
    from toolfmt.tools.reading import file_decoder, read_text
    from toolfmt.tools.registry import ToolRegistry

    if _is_code(source):
        with stdout_to_stderr():
            value = _object(source)
        of_executor = None if isinstance(value, ModuleType) else getattr(value, "registry", None)
        return tuple(_registry(of_executor if isinstance(of_executor, ToolRegistry) else value, source))
    text = _text(source)
    if _is_servers(text):
        from anyio import run

        with stdout_to_stderr():
            return run(_offered, source)
    try:
        return tuple(definition for definition, _ in read_text(text, file_decoder(source)))
    except (ParseError, SchemaError, DuplicateToolError) as error:
        raise type(error)(f"{source}: {error}") from None


def toolbox(source: str) -> OpenedExecutor:
    """Open an executor of the tools that `source` names; raises `UsageError` if none of them can be run.

    A Python file or a module is run, as `python FILE` and `python -m` would.
    """
    if _is_code(source):
        return _from_code(source)
    if not _is_servers(_text(source)):
        raise UsageError(f"{source} has no tool that can be run: it has definitions alone; name the functions instead")
    return _connected(source)


def _is_code(source: str) -> bool:
    """Whether `source` names Python code: a file, or an object of a file or a module."""
    if source == STDIN or (Path(source).exists() and Path(source).suffix != _PYTHON):
        return False
    return Path(source).suffix == _PYTHON or ":" in source


def _text(source: str) -> str:
    if source != STDIN and not Path(source).exists():
        what = "No such file or directory" if Path(source).suffix or os.sep in source else "there is no such file"
        raise UsageError(f"{source}: {what}; --tools takes {KINDS}")
    return inputs.read_text(source).removeprefix("\ufeff")


def _is_servers(text: str) -> bool:
    try:
        value = jsontext.loads(text) if text.lstrip().startswith("{") else None
    except ParseError:
        return False
    return jsontext.is_object(value) and any(jsontext.is_object(value.get(key)) for key in _SERVERS)


async def _offered(source: str) -> tuple[ToolDefinition, ...]:
    from toolfmt.agents.runtime import bound, nobody

    async with _connected(source) as executor:
        return bound(executor, None, (), nobody)[1].tools


@asynccontextmanager
async def _from_code(source: str) -> AsyncGenerator[Executor]:
    from toolfmt.execution.executor import Executor

    value = _object(source)
    if isinstance(value, Executor):
        yield value
        return
    registry = _registry(value, source)
    if not any(registry.function(tool.name) is not None for tool in registry):
        raise UsageError(f"{source} has no tool that can be run: register functions")
    try:
        executor = Executor(registry)
    except (ToolFmtError, ValueError) as error:
        raise UsageError(
            f"{source}: {error}; --tools may name an Executor too, made with what its tools need"
        ) from None
    yield executor


def _registry(value: object, source: str) -> ToolRegistry:
    """Return the tools of a value: a registry, a function, a list of them, a module's own functions."""
    from toolfmt.tools.registry import ToolRegistry

    if isinstance(value, ModuleType):
        value = _functions(value, source)
    try:
        return value if isinstance(value, ToolRegistry) else ToolRegistry(value)
    except (ToolFmtError, TypeError) as error:
        raise UsageError(f"{source} holds no tools: {error}") from None


def _functions(module: ModuleType, source: str) -> object:
    """Return a file's only registry, else the public functions that it defines."""
    from toolfmt.tools.registry import ToolRegistry

    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    registries = {name: value for name, value in public.items() if isinstance(value, ToolRegistry)}
    if len(registries) > 1:
        raise UsageError(f"{source} has several registries: name one, such as {source}:{next(iter(registries))}")
    if registries:
        return next(iter(registries.values()))
    own = [value for value in public.values() if isfunction(value) and value.__module__ == module.__name__]
    if not own:
        raise UsageError(f"{source} defines no public function and no ToolRegistry")
    return own


def _object(source: str) -> object:
    module, colon, path = source.rpartition(":") if f"{_PYTHON}:" in source else source.partition(":")
    if Path(source).suffix == _PYTHON and Path(source).exists():
        module, colon, path = source, "", ""
    if module.endswith(_PYTHON):
        value = _from_file(module)
        if not colon:
            return value
    else:
        if not (module and colon and path):
            raise UsageError(f"{source}: there is no such file; --tools takes {KINDS}")
        if not all(word.isidentifier() for word in module.split(".")):
            raise UsageError(
                f"--tools takes a module's name as `import` does, such as weather:registry, not {source!r}"
            )
        value = _imported(module)
    for at, name in enumerate(path.split(".")):
        if not hasattr(value, name):
            whole = ".".join((module, *path.split(".")[:at]))
            raise UsageError(f"{whole} has no {name!r}; it has {_names(value)}")
        value = getattr(value, name)
    return value


def _from_file(path: str) -> object:
    """Run a Python file; modules beside it can be imported."""
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"{path}: No such file or directory")
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = file.stem if file.stem.isidentifier() else "tools"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - of a path that ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as annotations and pickles look for it
    _run(path, lambda: spec.loader.exec_module(module))  # type: ignore[union-attr]
    return module


def _imported(module: str) -> object:
    here = os.getcwd()  # noqa: PTH109 - as a word of the import path
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    return _run(module, lambda: importlib.import_module(module))


def _run(module: str, load: Callable[[], Any]) -> object:
    try:
        return load()
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UsageError(f"importing {module} failed: {_place(error)}{error}") from error
        raise UsageError(f"there is no module {error.name!r}, here or installed") from None
    except (Exception, SystemExit) as error:  # whatever the module's own code raises
        raise UsageError(f"importing {module} failed: {_place(error)}{type(error).__name__}: {error}") from error


def _place(error: BaseException) -> str:
    """Name the wrong line, or the line that raised the error."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}: "
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_IMPORTING)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _names(value: object) -> str:
    public = [name for name in vars(value) if not name.startswith("_")] if hasattr(value, "__dict__") else []
    return ", ".join(public[:10]) + (" and more" if len(public) > 10 else "") if public else "nothing"  # noqa: PLR2004 - enough to recognise it


@asynccontextmanager
async def _connected(source: str) -> AsyncGenerator[Executor]:
    from toolfmt.execution.executor import Executor
    from toolfmt.mcp import connect_all
    from toolfmt.tools.registry import ToolRegistry

    async with connect_all(source) as servers:
        yield Executor(ToolRegistry(), servers=servers)
