"""Shared by both message formats of the AI SDK: provider options, and files as data or URLs.

{"type": "reasoning", "text": "Two calls.", "providerOptions": {"anthropic": {"signature": "EqQB"}}}
{"type": "file", "data": "https://a.b/c.pdf", "mediaType": "application/pdf", "filename": "c.pdf"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from toolfmt.conversation import CallPart, MediaPart, ReasoningPart
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.media import data_of, from_url, kind_of
from toolfmt.transcripts.parts.values import own, rest
from toolfmt.transcripts.tables.blocks import MARK, Further

_OPTIONS: Final = "vercel.providerOptions"
_PROOFS: Final = (
    ("anthropic", "signature", "signature", "anthropic"),
    ("anthropic", "redactedData", "encrypted", "anthropic"),
    ("bedrock", "signature", "signature", "anthropic"),
    ("bedrock", "redactedData", "encrypted", "anthropic"),
    ("google", "thoughtSignature", "signature", "google"),
    ("openai", "reasoningEncryptedContent", "encrypted", "openai"),
)
"""A provider's name and key among the options, our field for it, and the proof's owner."""


_RESOLD: Final = frozenset({"bedrock"})
"""Providers that forward the proofs of another owner."""


def further(item: JsonObject, known: AbstractSet[str], owner: str, options: str = "providerOptions") -> JsonObject:
    """Collect a part's unknown fields; a mark for the prompt cache means the same in all formats."""
    if item.keys() <= known:
        return {}
    extra = rest(item, known | {options}, owner)
    given = item.get(options)
    if is_object(given):
        mine = given.get("anthropic")
        if is_object(mine) and "cacheControl" in mine:
            extra[MARK] = mine["cacheControl"]
            given = _without(given, "anthropic", "cacheControl")
        if given:
            extra[_OPTIONS] = given
    elif given is not None:
        extra[f"{owner}.{options}"] = given
    return extra


def taken(owner: str, options: str = "providerOptions") -> tuple[Further, Callable[[JsonObject, Any], JsonObject]]:
    """Return a table's two functions for a part's extra fields."""

    def take(item: JsonObject, part: Any, known: AbstractSet[str]) -> None:
        part.extra |= further(item, known, owner, options)
        if isinstance(part, (ReasoningPart, CallPart)):
            _take_proof(part)

    def put(item: JsonObject, part: Any) -> JsonObject:
        extra: JsonObject = getattr(part, "extra", {})
        given: JsonObject = extra.get(_OPTIONS, {})
        for provider, key, value in _proofs(part):
            given = given | {provider: {**given.get(provider, {}), key: value}}
        if MARK in extra:
            given = given | {"anthropic": {**given.get("anthropic", {}), "cacheControl": extra[MARK]}}
        found = own(extra, owner) | ({options: given} if given else {})
        return item | {key: value for key, value in found.items() if key not in item}

    return take, put


def _take_proof(part: ReasoningPart | CallPart) -> None:
    """Move the proof of reasoning or of a call from the options to the part's own fields."""
    options = part.extra.pop(_OPTIONS, {})
    for provider, key, name, owner in _PROOFS:
        mine = options.get(provider)
        if part.owner in ("", owner) and hasattr(part, name) and is_object(mine) and isinstance(mine.get(key), str):
            setattr(part, name, mine[key])
            part.owner = owner
            options = _without(options, provider, key)
    if options:
        part.extra[_OPTIONS] = options


def _proofs(part: Any) -> Iterator[tuple[str, str, str]]:
    maker = getattr(part, "owner", "")
    for provider, key, name, owner in _PROOFS:
        value = getattr(part, name, None)
        if value is not None and maker == owner and provider not in _RESOLD:
            yield provider, key, value


def _without(options: JsonObject, provider: str, key: str) -> JsonObject:
    mine = {name: value for name, value in options[provider].items() if name != key}
    left = {name: value for name, value in options.items() if name != provider}
    return left | {provider: mine} if mine else left


def read_file(data: JsonValue, media_type: str, name: str | None = None) -> MediaPart | None:
    """Read a file, from text or from an object with data, a URL, a text, or a provider's id.

    `image/*` and `image` state only the kind.
    """
    kind, exact = kind_of(media_type), media_type if "/" in media_type and not media_type.endswith("/*") else ""
    inside = data.get(str(data.get("type"))) if is_object(data) else data
    if isinstance(inside, str):
        if is_object(data) and data["type"] == "text":
            text_type = exact if exact.startswith("text/") else "text/plain"
            return MediaPart("document", text_type, data_of(inside), name=name)
        if not inside.startswith(("http:", "https:", "data:")):
            return MediaPart(kind, exact, inside, name=name)
        part = from_url(inside, kind, name=name)
        part.media_type = exact or part.media_type
        return part
    given = inside if is_object(inside) else data
    if not is_object(given) or len(given) != 1:
        return None
    ((owner, ident),) = given.items()
    return MediaPart(kind, exact, file_id=ident, name=name, owner=owner) if isinstance(ident, str) else None
