"""Run the calls: an executor, policies, drivers and a loop, with every step told as an event.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})])
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

Needs the extra `exec`.
"""

from __future__ import annotations
