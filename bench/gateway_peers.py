"""The gateways that `bench.gateway` measures beside ours, and a floor: a proxy that only passes bytes on.

    python -m bench.gateway_peers PORT URL    # serve the proxy; it is built of the libraries that ours is built of

The floor tells what Starlette, uvicorn and httpx2 cost on this machine before any format is read or written.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.requests import Request

Started = tuple[list[str], dict[str, str]]
"""A command, in which PORT stands for the port, and the variables of its environment."""


def litellm(program: str, url: str, folder: Path) -> Started:
    """Start litellm's proxy, of `pip install 'litellm[proxy]'`."""
    model = {"model": "hosted_vllm/m", "api_base": url, "api_key": "none"}
    config = _written(folder / "litellm.json", {"model_list": [{"model_name": "m", "litellm_params": model}]})
    local = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "ERROR"}
    local["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"
    return [program, "--config", config, "--host", "127.0.0.1", "--port", "PORT"], local


def rosetta(program: str, url: str, folder: Path) -> Started:
    """Start llm-rosetta's gateway, of `pip install llm-rosetta`."""
    made = {
        "providers": {"up": {"type": "openai_chat", "api_key": "none", "base_url": url}},
        "models": {"m": "up"},
        "server": {"host": "127.0.0.1", "open_on_no_keys": True},
    }
    config = _written(folder / "rosetta.jsonc", made)
    command = [program, "--no-banner", "--config", config, "--host", "127.0.0.1", "--port", "PORT"]
    return [*command, "--log-level", "error", "--data-dir", str(folder)], {"HOME": str(folder)}


PEERS: Final[Mapping[str, tuple[Callable[[str, str, Path], Started], str]]] = {
    "litellm": (litellm, "/health/liveliness"),
    "llm-rosetta": (rosetta, "/v1/models"),
}
"""How each is started, and a path that answers once it serves."""
FLOOR: Final = "bytes only"


def _written(path: Path, made: Any) -> str:
    path.write_text(json.dumps(made))
    return str(path)


def passing(url: str) -> Starlette:
    """Make the proxy that sends each request on and its answer back, unread."""
    client = httpx2.AsyncClient(limits=httpx2.Limits(max_connections=None))

    async def handle(request: Request) -> StreamingResponse:
        async with AsyncExitStack() as stack:
            headers = {"content-type": "application/json"}
            sent = client.stream("POST", f"{url}/chat/completions", content=await request.body(), headers=headers)
            answer = await stack.enter_async_context(sent)
            rest = stack.pop_all()
        kept = {name: answer.headers[name] for name in ("content-type", "content-length") if name in answer.headers}

        async def pieces() -> AsyncIterator[bytes]:
            async with rest:
                async for piece in answer.aiter_raw():
                    yield piece

        return StreamingResponse(pieces(), headers=kept)

    return Starlette(routes=[Route("/{path:path}", handle, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(passing(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
