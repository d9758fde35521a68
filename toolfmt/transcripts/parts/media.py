"""Converts URLs with data inside, `data:image/png;base64,iVBOR...`, to and from media parts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from toolfmt.conversation import MediaPart
from toolfmt.errors import LimitExceededError
from toolfmt.jsontext import MAX_NESTING, holds, is_array, is_object
from toolfmt.model import JsonValue

_DATA_URL: Final = re.compile(r"data:([^;,]*)((?:;[^;,=]+=[^;,]*)*);base64,", re.IGNORECASE)

MediaKind = Literal["image", "audio", "video", "document"]


def from_url(url: str, kind: MediaKind, *, detail: str | None = None, name: str | None = None) -> MediaPart:
    """Make a part from a URL; base64 data in it are extracted."""
    found = _DATA_URL.match(url)
    if found is None:
        return MediaPart(kind, url=url, detail=detail, name=name)
    return MediaPart(kind, found[1] + found[2], data=url[found.end() :], detail=detail, name=name)


def file_of(data: str, name: str | None) -> MediaPart:
    """Make a part from a file's data: a data URL, or bare base64."""
    if "://" in data[:32] or _DATA_URL.match(data):
        part = from_url(data, "document", name=name)
    else:
        part = MediaPart("document", media_type_of(name or "") or media_type_in(data), data, name=name)
    part.kind = kind_of(part.media_type)
    return part


def file_name(part: MediaPart) -> str:
    """Return a file's name, or `document` with its type's extension if it has none."""
    ending = next((ending for ending, kind in _TYPES.items() if kind == part.media_type.partition(";")[0].lower()), "")
    return part.name or f"document.{ending or 'pdf'}"


def to_url(part: MediaPart) -> str | None:
    """Write a part as a URL; return None if it has only a provider's file id."""
    if part.data is not None:
        return f"data:{part.media_type};base64,{part.data}"
    return part.url


def with_base64(value: Any, what: str = "") -> Any:
    """Replace bytes from SDKs in a value by base64 text; return the same value if there are none.

    Raises `LimitExceededError` if the value, called `what`, is nested too deeply; without a name it is not checked.
    """
    found = holds(value, _BYTES)
    if found is None and what:
        raise LimitExceededError(f"{what} is nested more than {MAX_NESTING} levels deep")
    return _encoded(value) if found else value


def _encoded(value: Any) -> Any:
    if isinstance(value, _BYTES):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {key: _encoded(item) for key, item in cast("Mapping[str, Any]", value).items()}
    return [_encoded(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


_BYTES: Final = (bytes, bytearray)


def text_in(data: str) -> str | None:
    """Decode a file's data as text; return None if it is not text."""
    try:
        return base64.b64decode(data, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def data_of(text: str) -> str:
    """Write a text as a file's data."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


CHUNKS: Final = "chunks"
"""The further field of a text document that is given in pieces, to which citations refer by their numbers."""


def read_chunks(blocks: JsonValue, part: MediaPart, **beside: JsonValue) -> bool:
    """Read a document made of blocks of plain text, each with nothing but `beside` it, as one text."""
    found = [block.get("text") for block in blocks if is_object(block)] if is_array(blocks) else []
    chunks = [text for text in found if isinstance(text, str)]
    if not chunks or blocks != [{**beside, "text": chunk} for chunk in chunks]:
        return False
    part.media_type, part.data, part.extra[CHUNKS] = "text/plain", data_of("\n".join(chunks)), chunks
    return True


def kind_of(media_type: str) -> MediaKind:
    """Return the kind of a media type such as `audio/wav`; anything else is a document."""
    major = media_type.partition("/")[0].lower()
    return major if major in ("image", "audio", "video") else "document"


def media_type_of(name: str) -> str:
    """Return a file's media type by the extension of its name or URL, or ""."""
    ending = name.partition("?")[0].partition("#")[0].rpartition(".")[2].lower()
    return _TYPES.get(ending, "")


def media_type_in(data: str) -> str:
    """Return the media type of base64 data by its first bytes, or ""."""
    try:
        start = base64.b64decode(data[:24])
    except (binascii.Error, ValueError):
        return ""
    return next((found for begins, found in _BEGINNINGS if re.match(begins, start, re.DOTALL)), "")


_BEGINNINGS: Final = (
    (rb"\x89PNG\r\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF....WEBP", "image/webp"),
    (rb"RIFF....WAVE", "audio/wav"),
    (rb"ID3|\xff[\xf2\xf3\xfb]", "audio/mp3"),
    (rb"%PDF-", "application/pdf"),
)


def known_type(part: MediaPart) -> str:
    """Return a part's media type: its own, that of its name or URL, or a default of its kind."""
    found = part.media_type or media_type_of(part.name or part.url or "")
    return found or ("application/octet-stream" if part.kind == "document" else f"{part.kind}/*")


_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "mp3": "audio/mp3",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
}
