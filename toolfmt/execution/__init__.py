"""Run calls with an executor and policies; every step is reported as an event.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})])
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

Needs the extra `exec`. `__init__.pyi` lists the public names; each is imported on first use.
"""

from importlib.util import find_spec

import lazy_loader

from toolfmt.errors import MissingExtraError

if find_spec("anyio") is None:
    raise MissingExtraError("running calls", "exec")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
