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
    from toolfmt.execution.bus import Bus
    from toolfmt.execution.compilers import Compiler, all_sections, current_trace, sections, window
    from toolfmt.execution.context import ToolContext
    from toolfmt.execution.contracts import CallExecutor, ModelClient, TextModel, ToolServer
    from toolfmt.execution.drivers import DecisionDriver, NativeDriver, Patience, ScriptedDriver, TextDriver, scripted
    from toolfmt.execution.executor import Executor
    from toolfmt.execution.guards import Breaker, Budget
    from toolfmt.execution.hooks import AfterHook, BeforeHook, Blocked, Guard
    from toolfmt.execution.loop import AgentLoop, StopRule
    from toolfmt.execution.messages import results_text, to_messages, write_messages
    from toolfmt.execution.pending import Pending
    from toolfmt.execution.policies.approval import Approval, ApprovalRequest
    from toolfmt.execution.policies.certainty import CertaintyPolicy
    from toolfmt.execution.policies.permissions import Permissions
    from toolfmt.execution.policies.policy import Candidate, Policy
    from toolfmt.execution.policies.project import ProjectBoundaries
    from toolfmt.execution.policies.provenance import ProvenancePolicy
    from toolfmt.execution.policies.rate_limit import RateLimit
    from toolfmt.execution.policies.schema import JsonPolicy, SchemaPolicy
    from toolfmt.execution.policies.workspace import Workspace
    from toolfmt.execution.records import AgentStop, FailureKind, PolicyError, ToolCallError, ToolExecution
    from toolfmt.execution.runtime import Driver, Outcome, Runtime, Visible
    from toolfmt.execution.state import AgentFailedError, AgentState, Run, Status, Step
    from toolfmt.execution.subagents import as_tool
    from toolfmt.execution.waiting import Answered, Approved, Decision, Denied

__all__ = [
    "AfterHook",
    "AgentFailedError",
    "AgentLoop",
    "AgentState",
    "AgentStop",
    "Answered",
    "Approval",
    "ApprovalRequest",
    "Approved",
    "BeforeHook",
    "Blocked",
    "Breaker",
    "Budget",
    "Bus",
    "CallExecutor",
    "Candidate",
    "CertaintyPolicy",
    "Compiler",
    "Decision",
    "DecisionDriver",
    "Denied",
    "Driver",
    "Executor",
    "FailureKind",
    "Guard",
    "JsonPolicy",
    "ModelClient",
    "NativeDriver",
    "Outcome",
    "Patience",
    "Pending",
    "Permissions",
    "Policy",
    "PolicyError",
    "ProjectBoundaries",
    "ProvenancePolicy",
    "RateLimit",
    "Run",
    "Runtime",
    "SchemaPolicy",
    "ScriptedDriver",
    "Status",
    "Step",
    "StopRule",
    "TextDriver",
    "TextModel",
    "ToolCallError",
    "ToolContext",
    "ToolExecution",
    "ToolServer",
    "Visible",
    "Workspace",
    "all_sections",
    "as_tool",
    "current_trace",
    "results_text",
    "scripted",
    "sections",
    "to_messages",
    "window",
    "write_messages",
]

_NAMES = {
    "context": "ToolContext",
    "bus": "Bus",
    "compilers": "Compiler all_sections current_trace sections window",
    "contracts": "CallExecutor ModelClient TextModel ToolServer",
    "drivers": "DecisionDriver NativeDriver Patience ScriptedDriver TextDriver scripted",
    "executor": "Executor",
    "guards": "Breaker Budget",
    "hooks": "AfterHook BeforeHook Blocked Guard",
    "loop": "AgentLoop StopRule",
    "messages": "results_text to_messages write_messages",
    "policies.approval": "Approval ApprovalRequest",
    "policies.certainty": "CertaintyPolicy",
    "policies.permissions": "Permissions",
    "policies.policy": "Candidate Policy",
    "policies.project": "ProjectBoundaries",
    "policies.provenance": "ProvenancePolicy",
    "policies.rate_limit": "RateLimit",
    "policies.schema": "JsonPolicy SchemaPolicy",
    "policies.workspace": "Workspace",
    "records": "AgentStop FailureKind PolicyError ToolCallError ToolExecution",
    "runtime": "Driver Outcome Runtime Visible",
    "state": "AgentFailedError AgentState Run Status Step",
    "pending": "Pending",
    "subagents": "as_tool",
    "waiting": "Answered Approved Decision Denied",
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
