"""What both message formats of the AI SDK share: a provider's options, and files as data or addresses.

{"type": "reasoning", "text": "Two calls.", "providerOptions": {"anthropic": {"signature": "EqQB"}}}
{"type": "file", "data": "https://a.b/c.pdf", "mediaType": "application/pdf", "filename": "c.pdf"}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt.conversation import CallPart, MediaPart, ReasoningPart
from toolfmt.jsontext import is_object
from toolfmt.transcripts.media import data_of, from_url, kind_of
from toolfmt.transcripts.values import own, rest

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from toolfmt.conversation import ResultPart, TextPart
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.blocks import Further

_OPTIONS: Final = "vercel.providerOptions"
_PROOFS: Final = (
    ("anthropic", "signature", "signature", "anthropic"),
    ("anthropic", "redactedData", "encrypted", "anthropic"),
    ("bedrock", "signature", "signature", "anthropic"),
    ("bedrock", "redactedData", "encrypted", "anthropic"),
    ("google", "thoughtSignature", "signature", "google"),
    ("openai", "reasoningEncryptedContent", "encrypted", "openai"),
)
"""A provider's name and key among the options, the hub's field for it, and whose proof it is."""


_RESOLD: Final = frozenset({"bedrock"})
"""Who passes the proofs of another maker on."""


def further(item: JsonObject, known: AbstractSet[str], owner: str, options: str = "providerOptions") -> JsonObject:
    """Collect what a part says beside what its reader knows; a mark for the prompt cache means the same to all."""
    if item.keys() <= known:
        return {}
    extra = rest(item, known | {options}, owner)
    given = item.get(options)
    if is_object(given):
        mine = given.get("anthropic")
        if is_object(mine) and "cacheControl" in mine:
            extra["cache_control"] = mine["cacheControl"]
            given = _without(given, "anthropic", "cacheControl")
        if given:
            extra[_OPTIONS] = given
    elif given is not None:
        extra[f"{owner}.{options}"] = given
    return extra


def proven(part: ReasoningPart | CallPart) -> None:
    """Move the proof of reasoning or of a call from a part's options to its own fields."""
    options = part.extra.get(_OPTIONS)
    if options is None:
        return
    for provider, key, name, owner in _PROOFS:
        mine = options.get(provider)
        if part.owner in ("", owner) and hasattr(part, name) and is_object(mine) and isinstance(mine.get(key), str):
            setattr(part, name, mine[key])
            part.owner = owner
            options = _without(options, provider, key)
    part.extra[_OPTIONS] = options
    if not options:
        del part.extra[_OPTIONS]


def put_further(
    item: JsonObject,
    part: TextPart | MediaPart | ReasoningPart | CallPart | ResultPart,
    owner: str,
    options: str = "providerOptions",
) -> JsonObject:
    """Put back what `further` and `proven` took."""
    item.update(own(part.extra, owner))
    given: JsonObject = part.extra.get(_OPTIONS, {})
    proof: str = getattr(part, "owner", "")
    if proof:
        for provider, key, name, maker in _PROOFS:
            value = getattr(part, name, None)
            if value is not None and maker == proof and provider not in _RESOLD:
                given = given | {provider: {**given.get(provider, {}), key: value}}
    if "cache_control" in part.extra:
        given = given | {"anthropic": {**given.get("anthropic", {}), "cacheControl": part.extra["cache_control"]}}
    if given:
        item[options] = given
    return item


def _without(options: JsonObject, provider: str, key: str) -> JsonObject:
    mine = {name: value for name, value in options[provider].items() if name != key}
    left = {name: value for name, value in options.items() if name != provider}
    return left | {provider: mine} if mine else left


def taken(owner: str, options: str) -> tuple[Further, Callable[[JsonObject, Any], JsonObject]]:
    """Give a table's two functions for what a part says beside its fields."""

    def take(item: JsonObject, part: Any, known: frozenset[str]) -> None:
        part.extra |= further(item, known, owner, options)
        if isinstance(part, (ReasoningPart, CallPart)):
            proven(part)

    def put(item: JsonObject, part: Any) -> JsonObject:
        found = put_further({}, part, owner, options) if hasattr(part, "extra") else {}
        return item | {key: value for key, value in found.items() if key not in item}

    return take, put


def read_file(data: JsonValue, media_type: str, name: str | None = None) -> MediaPart | None:
    """Read a file, as text or as an object that says what it is: data, an address, a text, or a provider's id."""
    if isinstance(data, str):
        return read_media(data, media_type, name)
    if not is_object(data):
        return None
    inside = data.get(str(data.get("type")))
    if isinstance(inside, str) and data.get("type") == "text":
        kind = media_type if media_type.startswith("text/") and not media_type.endswith("/*") else "text/plain"
        return MediaPart("document", kind, data_of(inside), name=name)
    if isinstance(inside, str):
        return read_media(inside, media_type, name)
    given = inside if is_object(inside) else data
    if len(given) != 1 or not all(isinstance(ident, str) for ident in given.values()):
        return None
    ((owner, ident),) = given.items()
    exact = media_type if "/" in media_type and not media_type.endswith("/*") else ""
    return MediaPart(kind_of(media_type), exact, file_id=ident, name=name, owner=owner)


def read_media(data: str, media_type: str, name: str | None = None) -> MediaPart:
    """Read a file: base64, an address, or an address with the data inside; `image/*` and `image` say the kind alone."""
    kind = kind_of(media_type)
    exact = media_type if "/" in media_type and not media_type.endswith("/*") else ""
    if data.startswith(("http:", "https:", "data:")):
        part = from_url(data, kind, name=name)
        part.media_type = exact or part.media_type
        return part
    return MediaPart(kind, exact, data, name=name)
