"""Agents: a loop around a model and an executor, drivers that decide the next step, and storable states.

    agent = AgentLoop(NativeDriver(client), Executor(registry))
    state = await agent.run("What is the weather in Paris?")

Needs the extra `exec`. `__init__.pyi` lists the public names; each is imported on first use.
"""

from importlib.util import find_spec

import lazy_loader

from toolfmt.errors import MissingExtraError

if find_spec("anyio") is None:
    raise MissingExtraError("agents", "exec")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
