"""Drivers: what decides the next step of an agent. Each takes a state and gives it back with one step more.

    NativeDriver(client)          a provider's own tool calling
    TextDriver(model, dialect=…)  calls in the text of any model, in any dialect; "react" is ReAct
    DecisionDriver(model)         one JSON decision at a time, checked before it is done
    ScriptedDriver(steps)         a script in place of a model; `scripted(path)` reads one

Whatever has `async def step(state, runtime)` is a driver too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolfmt.execution.drivers.deciding import DecisionDriver
    from toolfmt.execution.drivers.native import NativeDriver
    from toolfmt.execution.drivers.patience import Patience
    from toolfmt.execution.drivers.script import ScriptedDriver, ScriptStep, call, calls, error, final, tool
    from toolfmt.execution.drivers.script_files import Script, scripted
    from toolfmt.execution.drivers.text import TextDriver

__all__ = [
    "DecisionDriver",
    "NativeDriver",
    "Patience",
    "Script",
    "ScriptStep",
    "ScriptedDriver",
    "TextDriver",
    "call",
    "calls",
    "error",
    "final",
    "scripted",
    "tool",
]

_NAMES = {
    "native": "NativeDriver",
    "patience": "Patience",
    "deciding": "DecisionDriver",
    "script_files": "Script scripted",
    "script": "ScriptStep ScriptedDriver call calls error final tool",
    "text": "TextDriver",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'toolfmt.execution.drivers' has no attribute {name!r}")
    return getattr(import_module(f"toolfmt.execution.drivers.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
