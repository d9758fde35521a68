"""What a server of a registry's tools answers: their list, and their results.

A call is run by the executor alone; what its tool tells of its progress is passed on to who asked.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from anyio import create_task_group
from anyio.lowlevel import current_token
from mcp import MCPError, types

from toolfmt.execution.events import ToolProgress
from toolfmt.execution.records import AgentStop
from toolfmt.mcp.writing import write_result, write_tool
from toolfmt.model import ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from toolfmt.execution.events import ExecutionEvent
    from toolfmt.execution.executor import Executor
    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import ToolDefinition


class Service:
    """Answers a server's requests by what an executor does."""

    def __init__(self, executor: Executor) -> None:
        """Take an executor over, with its own listener."""
        self._listener = executor.on_event
        self._executor = replace(executor, on_event=self._tell, throw_on_failure=False)
        self._ids = map(str, count(1))
        self._progress: dict[str | None, Callable[[ToolProgress], None]] = {}

    async def list(self, _context: object, _params: object) -> types.ListToolsResult:
        """Answer `tools/list`: the registry's tools, then those of the executor's servers."""
        served = (tool for server in self._executor.servers.values() for tool in server.tools)
        tools: dict[str, ToolDefinition] = {}
        for tool in (*self._executor.registry.visible(), *served):
            tools.setdefault(tool.name, tool)
        return types.ListToolsResult(tools=[*map(write_tool, tools.values())])

    async def call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`; a tool that does not exist is an error of the protocol, all others are results."""
        arguments = {} if params.arguments is None else params.arguments
        call = ToolInvocation(name=params.name, arguments=arguments, id=next(self._ids))
        executions: list[ToolExecution] = []
        async with create_task_group() as reports:
            loop = current_token()

            def report(event: ToolProgress) -> None:
                if call.id in self._progress and event.progress is not None:
                    reported = (event.progress, event.total, event.message or None)
                    reports.start_soon(context.session.report_progress, *reported)

            def hear(event: ToolProgress) -> None:
                # From any thread, and not waiting for the loop, which may be about to tell something itself.
                loop.backend_class.run_sync_soon(report, (event,), loop.native_token)

            self._progress[call.id] = hear
            try:
                executions = await self._executor.execute([call])
            except AgentStop as stop:
                executions = [*stop.executions]
            finally:
                del self._progress[call.id]
        execution = executions[0]
        if execution.failure == "unknown_tool":
            raise MCPError(types.INVALID_PARAMS, execution.error)
        return write_result(execution.result)

    def _tell(self, event: ExecutionEvent) -> None:
        if isinstance(event, ToolProgress) and (report := self._progress.get(event.call.id)) is not None:
            report(event)
        if self._listener is not None:
            self._listener(event)
