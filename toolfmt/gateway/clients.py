"""What to put into a client so that it asks the gateway; `toolfmt serve` prints it when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolfmt.gateway.config import Config

_CLIENTS: Final = (
    ("OPENAI_BASE_URL", "/v1", "OpenAI SDKs"),
    ("ANTHROPIC_BASE_URL", "", "Anthropic SDKs, Claude Code"),
    ("GOOGLE_GEMINI_BASE_URL", "", "Google Gen AI SDKs, Gemini CLI"),
    ("OLLAMA_HOST", "", "Ollama clients"),
)
"""The environment variables from which clients read their server's address, and what the address ends with."""
_ANYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
_DOCS: Final = "docs/how-to/run-a-gateway.md in toolfmt's repository"


def client_settings(config: Config, port: int) -> str:
    """Say which variable to set for which client, and what its API key is."""
    host = "127.0.0.1" if config.host in _ANYWHERE else config.host
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    rows = [f"  {f'{name}={url}{path}':<46}  # {client}" for name, path, client in _CLIENTS]
    began = f"The gateway is running on {url} (CTRL+C ends it)."
    title = f"Set one of these for your client; its API key is {_key(config)}:"
    return "\n".join((began, title, *rows, f"Other clients and settings: {_DOCS}"))


def _key(config: Config) -> str:
    if any(back.pass_key for back in config.backs.values()):
        return "the one for the upstream"
    if config.key_env:
        return f"the value of ${config.key_env}"
    return "one of the gateway's keys" if config.keys else "any text"
