"""Run calls: an executor and its policies, with every step reported as an event.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})])
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

Needs the extra `exec`. The public names are listed in `__init__.pyi`; each is imported when it is first used.
"""

from importlib.util import find_spec

import lazy_loader

from toolfmt.errors import MissingExtraError

if find_spec("anyio") is None:
    raise MissingExtraError("running calls", "exec")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
