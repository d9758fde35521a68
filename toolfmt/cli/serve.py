"""`toolfmt serve` and `toolfmt recorded`: a server between any client and any model, and what it has recorded."""

from __future__ import annotations

import logging
import os
import re
import sys
from contextlib import closing, suppress
from pathlib import Path
from socket import AF_INET, AF_INET6, IPPROTO_TCP, TCP_NODELAY, create_server
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from toolfmt.cli.output import UsageError, write_json_line
from toolfmt.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.applications import Starlette

    from toolfmt.gateway.config import Config  # without the extra, `--help` works too


def serve(  # noqa: PLR0913 - one argument for each option
    config: Annotated[Path | None, Parameter(help="The configuration, a TOML file.")] = None,
    /,
    *,
    upstream: Annotated[str | None, Parameter(help="The base address of a single back for every model.")] = None,
    api: Annotated[
        str | None,
        Parameter(
            help="The API of the upstream: openai-chat (the default), openai-responses, anthropic, gemini, "
            "gemini-interactions, bedrock, mistral, cohere, ollama, or a relative of openai-chat, such as vllm, groq, "
            "openrouter; of a model that only writes text: text (/chat/completions), completions or llama.cpp "
            "(both with --model-dir)."
        ),
    ] = None,
    dialect: Annotated[str | None, Parameter(help="The dialect of an upstream that only writes text.")] = None,
    key_env: Annotated[str | None, Parameter(help="The environment variable with the upstream's key.")] = None,
    client_key_env: Annotated[
        str | None, Parameter(help="The environment variable with the key that clients must send.")
    ] = None,
    host: Annotated[str | None, Parameter(help="The address to listen on; other machines need a key.")] = None,
    port: Annotated[int | None, Parameter(help="The port to listen on; 0 selects a free one.")] = None,
    model_dir: Annotated[
        Path | None,
        Parameter(
            help="The folder of a model that writes text: its chat template chooses the dialect and renders prompts."
        ),
    ] = None,
    workers: Annotated[int | None, Parameter(help="The number of processes.")] = None,
    strict: Annotated[bool, Parameter(help="Reject requests that would lose content or meaning.")] = False,
) -> None:
    """Serve the APIs of OpenAI, Anthropic, Gemini and Ollama in front of other servers, until interrupted.

    POST /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:generateContent,
    /v1beta/interactions and /api/chat.
    """
    try:
        from toolfmt.gateway.app import make_app
        from toolfmt.gateway.journal import log_requests
        from toolfmt.gateway.loading import load_config, reported, single
    except ImportError:
        raise MissingExtraError("toolfmt serve", "gateway") from None
    back = {"api": api, "dialect": dialect, "key_env": key_env, "model_dir": model_dir and str(model_dir)}
    back = {name: value for name, value in back.items() if value is not None}
    changes = {"host": host, "port": port, "workers": workers, "strict": strict or None, "key_env": client_key_env}
    changes = {name: value for name, value in changes.items() if value is not None}
    if mistake := _mistake(config, upstream, back):
        raise UsageError(mistake)
    if config is not None:
        found = load_config(config, **changes)
    else:
        found = single(url=upstream or "", **{"api": "openai-chat", **back}, changes=changes)
    log_requests()
    with reported(config, changes):  # before any worker starts
        app = make_app(found)
    _run(found, app)


def _mistake(config: Path | None, upstream: str | None, back: Iterable[str]) -> str:
    """Describe what the options make no sense of together; "" if they do."""
    if upstream is not None and not upstream.startswith(("http://", "https://")):
        return f"--upstream is an http or https address, not {upstream!r}: write http://{upstream}"
    if config is None:
        return "" if upstream is not None else "give a configuration file, or --upstream with an address"
    if re.match("https?:/", str(config)):
        address = re.sub(":/+", "://", str(config))
        return f"a configuration is a file: for the address of a server, write --upstream {address}"
    if upstream is not None:
        return "give a configuration file or --upstream, not both: in a file, an upstream is a back"
    option = next((f"--{name.replace('_', '-')}" for name in back), "")
    return option and f"{option} belongs to --upstream: in a configuration file it is a field of a back"


def _run(config: Config, app: Starlette) -> None:
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from toolfmt.gateway.config import CONFIG_VARIABLE
    from toolfmt.gateway.connections import server_options
    from toolfmt.gateway.journal import log_line

    how: dict[str, Any] = {"host": config.host, "port": config.port, "workers": config.workers}
    how |= server_options(config)
    with TemporaryDirectory() as shared:
        if config.workers > 1:  # they share figures and the limits of keys in the folder
            os.environ |= {CONFIG_VARIABLE: config.model_dump_json(), "PROMETHEUS_MULTIPROC_DIR": shared}
            serving = uvicorn.Config("toolfmt.gateway.app:app_from_environment", factory=True, **how)
        else:
            serving = uvicorn.Config(app, **how)
        family = AF_INET6 if ":" in config.host else AF_INET
        try:
            listener = create_server((config.host, config.port), family=family, backlog=serving.backlog)
        except OSError as error:
            raise UsageError(
                f"cannot listen on port {config.port} of {config.host}: {error.strerror}; "
                "choose others with --host and --port"
            ) from None
        listener.set_inheritable(True)
        listener.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # else each answer waits 40 ms for its end
        url = _url(config, listener.getsockname()[1])
        if sys.stderr.isatty():
            sys.stderr.write(f"{client_settings(config, url)}\n")
        else:  # a log, which has a line of JSON for everything
            clients = {name: f"{url}{path}" for name, path, _ in _CLIENTS}
            log_line(logging.INFO, {"message": _BEGAN, "url": url, "clients": clients, "api_key": _key(config)})
        with suppress(KeyboardInterrupt):
            if config.workers > 1:
                Multiprocess(serving, [listener]).run()
            else:
                uvicorn.Server(serving).run([listener])


def recorded(
    store: Annotated[str, Parameter(help="The address of the gateway's store, such as sqlite:///gateway.db.")], /
) -> None:
    """Print the exchanges that a gateway has recorded, as JSON Lines: each row has a `request` and its `answer`.

    The answer of an exchange that failed is its error, and `status` the error's.

    toolfmt recorded sqlite:///gateway.db | toolfmt view -
    """
    scheme, _, path = store.partition(":///")
    if not path and "://" not in store:
        raise UsageError(f"{store} is not the address of a store: for a file, write sqlite:///{store}")
    if scheme == "sqlite" and path and not Path(path).is_file():
        raise UsageError(f'{path}: there is no such store; a gateway with `store = "{store}"` makes one')
    try:
        from toolfmt.gateway.store import Store
    except ImportError:
        raise MissingExtraError("toolfmt recorded", "store") from None
    with closing(Store(store)) as found:
        for row in found.rows():
            write_json_line(row)


_CLIENTS: Final = (
    ("OPENAI_BASE_URL", "/v1", "OpenAI SDKs"),
    ("ANTHROPIC_BASE_URL", "", "Anthropic SDKs, Claude Code"),
    ("GOOGLE_GEMINI_BASE_URL", "", "Google Gen AI SDKs, Gemini CLI"),
    ("OLLAMA_HOST", "", "Ollama clients"),
)
"""The environment variables from which clients read their server's address, and what the address ends with."""
_ANYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
_GEMINI_CLI: Final = (
    'Gemini CLI also needs {"security": {"auth": {"selectedType": "gemini-api-key"}}} in ~/.gemini/settings.json, '
    "and the key in GEMINI_API_KEY."
)
_BEGAN: Final = "The gateway is running"
_DOCS: Final = "docs/how-to/run-a-gateway.md in toolfmt's repository"


def _url(config: Config, port: int) -> str:
    host = "127.0.0.1" if config.host in _ANYWHERE else config.host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def client_settings(config: Config, url: str) -> str:
    """Say which variable to set for which client, and what its API key is."""
    rows = [f"  {f'{name}={url}{path}':<46}  # {client}" for name, path, client in _CLIENTS]
    title = f"Set one of these for your client; its API key is {_key(config)}:"
    return "\n".join(
        (f"{_BEGAN} on {url} (CTRL+C ends it).", title, *rows, _GEMINI_CLI, f"Other clients and settings: {_DOCS}")
    )


def _key(config: Config) -> str:
    if any(back.pass_key for back in config.backs.values()):
        return "the one for the upstream"
    if config.key_env:
        return f"the value of ${config.key_env}"
    return "one of the gateway's keys" if config.keys else "any text"
