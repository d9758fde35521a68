"""Run the calls: an executor, policies, drivers and a loop, with every step told as an event.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})])
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

Needs the extra `exec`. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolfmt.errors import MissingExtraError

if find_spec("anyio") is None:
    raise MissingExtraError("running calls", "exec")

if TYPE_CHECKING:
    from toolfmt.execution.context import ToolContext
    from toolfmt.execution.contracts import CallExecutor, ModelClient, TextModel, ToolServer
    from toolfmt.execution.executor import Executor
    from toolfmt.execution.hooks import AfterHook, BeforeHook, Blocked, Guard
    from toolfmt.execution.policies.policy import Candidate, Policy
    from toolfmt.execution.records import Failure, ToolExecution

__all__ = [
    "AfterHook",
    "BeforeHook",
    "Blocked",
    "CallExecutor",
    "Candidate",
    "Executor",
    "Failure",
    "Guard",
    "ModelClient",
    "Policy",
    "TextModel",
    "ToolContext",
    "ToolExecution",
    "ToolServer",
]

_NAMES = {
    "context": "ToolContext",
    "contracts": "CallExecutor ModelClient TextModel ToolServer",
    "executor": "Executor",
    "hooks": "AfterHook BeforeHook Blocked Guard",
    "policies.policy": "Candidate Policy",
    "records": "Failure ToolExecution",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name on first use, and keep it."""
    if name not in _HOME:
        raise AttributeError(f"module 'toolfmt.execution' has no attribute {name!r}")
    value = getattr(import_module(f"toolfmt.execution.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
