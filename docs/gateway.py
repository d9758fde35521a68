"""The page of the gateway's configuration, from its pydantic models."""  # noqa: INP001 - beside the script that uses it

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from blocks import codes, fenced, table

from toolfmt.gateway import config
from toolfmt.gateway.apis import APIS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

PARTS = (
    ("The file", config.Config),
    ("`[backs.NAME]`", config.Back),
    ("`[[routes]]`", config.ModelRoute),
    ("`[keys.NAME]`", config.ClientKey),
    ("`[[redact]]`", config.Redaction),
)


def gateway_page() -> str:
    """Show every field of the configuration."""
    example = cleandoc(config.__doc__ or "").split("\n\n", 1)[1]
    return "\n\n".join(
        (
            "# The gateway's configuration",
            "What the file of [`toolfmt serve`](../how-to/run-a-gateway.md) may say. Any other field is refused.",
            fenced(example),
            *(f"## {title}\n\n{cleandoc(model.__doc__ or '')}\n\n{_fields(model)}" for title, model in PARTS),
            "## APIs",
            f"`api` of a back is one of {codes(APIS)}.",
        )
    )


def _fields(model: type[BaseModel]) -> str:
    return table(("field", "type", "default", "what it says"), _rows(model))


def _rows(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        words = " ".join((field.description or _TABLES.get(name, "")).split())
        yield f"`{name}`", f"`{_type(field)}`", _default(field), words


_TABLES = {"backs": "See below.", "routes": "See below; the first that matches serves.", "redact": "See below."} | {
    "host": "The address to listen at; beyond this machine only with keys.",
    "port": "The port to listen at; 0 takes a free one.",
}


def _type(field: FieldInfo) -> str:
    kind: Any = field.annotation
    text = kind.__name__ if isinstance(kind, type) and not getattr(kind, "__args__", ()) else str(kind)
    return re.sub(r"toolfmt\.gateway\.config\.|typing\.", "", text)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True, validated_data={})
    return "-" if default in (None, (), {}) else f"`{default}`"
