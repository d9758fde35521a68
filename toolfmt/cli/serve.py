"""`toolfmt serve`: a server that puts any client in front of any model."""

import logging
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.errors import UsageError
from toolfmt.errors import MissingExtraError


def serve(  # noqa: PLR0913 - one argument for each option
    config: Annotated[Path | None, Parameter(help="The configuration, a TOML file.")] = None,
    /,
    *,
    upstream: Annotated[str | None, Parameter(help="One back for every model: its base address.")] = None,
    api: Annotated[
        str,
        Parameter(
            help="What the upstream speaks: openai-chat, openai-responses, anthropic, gemini, gemini-interactions, "
            "mistral, cohere, ollama, text, or a relative of openai-chat, such as vllm, sglang, groq, openrouter."
        ),
    ] = "openai-chat",
    dialect: Annotated[str | None, Parameter(help="The dialect of an upstream that only writes text.")] = None,
    key_env: Annotated[str | None, Parameter(help="The environment variable with the upstream's key.")] = None,
    client_key_env: Annotated[
        str | None, Parameter(help="The environment variable with the key that clients must send.")
    ] = None,
    host: Annotated[str | None, Parameter(help="Listen here; beyond this machine only with a key.")] = None,
    port: Annotated[int | None, Parameter(help="Listen at this port; 0 takes a free one.")] = None,
    strict: Annotated[bool, Parameter(help="Refuse requests of which content or meaning would be lost.")] = False,
) -> None:
    """Serve the APIs of OpenAI, Anthropic, Gemini and Ollama in front of other servers, until interrupted.

    POST /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:generateContent,
    /v1beta/interactions and /api/chat.
    """
    try:
        import uvicorn

        from toolfmt.gateway.app import make_app
        from toolfmt.gateway.config import changed, load_config, single
    except ImportError:
        raise MissingExtraError("toolfmt serve", "gateway") from None
    if (config is None) == (upstream is None):
        raise UsageError("give a configuration file, or --upstream with an address")
    if config is not None:
        found = load_config(config)
    else:
        assert upstream is not None  # noqa: S101 - one of the two is given
        found = single(upstream, api, dialect=dialect, key_env=key_env)
    changes = {"host": host, "port": port, "strict": strict or None, "key_env": client_key_env}
    found = changed(found, **{name: value for name, value in changes.items() if value is not None})
    logging.getLogger("toolfmt.gateway").setLevel(logging.INFO)
    logging.getLogger("toolfmt.gateway").addHandler(logging.StreamHandler())
    uvicorn.run(make_app(found), host=found.host, port=found.port, timeout_graceful_shutdown=found.drain_timeout, access_log=False)
