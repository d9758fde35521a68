r"""Images, sound and documents in chat messages: read in any spelling, written in the one that a format has.

`object`  {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo", "detail": "low"}}
          {"type": "input_audio", "input_audio": {"data": "UklGRg", "format": "wav"}}
          {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0"}}
`url`     {"type": "image_url", "image_url": "https://e.com/a.png"}
          {"type": "input_audio", "input_audio": "UklGRg"}
          {"type": "document_url", "document_url": "https://e.com/a.pdf", "document_name": "a.pdf"}
`part`    {"type": "image", "url": "https://e.com/a.png"}
`list`    {"role": "user", "content": "What is it?", "images": ["iVBORw0KGgo"]}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import MediaPart
from toolfmt.jsontext import is_object
from toolfmt.transcripts.media import file_name, file_of, from_url, media_type_in, to_url
from toolfmt.transcripts.values import rest

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.chat import ChatShape


def marks(item: JsonObject, known: set[str], shape: ChatShape) -> JsonObject:
    """Collect further keys of a part; a mark for the prompt cache means the same to all."""
    extra = rest(item, {*known, "cache_control"}, shape.owner) if not item.keys() <= known else {}
    if "cache_control" in item:
        extra["cache_control"] = item["cache_control"]
    return extra


def image_of(data: str) -> MediaPart:
    """Make a part of an image's bare base64."""
    return MediaPart("image", media_type_in(data), data)


def _image(item: JsonObject, shape: ChatShape) -> MediaPart | None:
    value = item.get("image_url")
    holder = value if is_object(value) else item
    url = value.get("url") if is_object(value) else value
    detail = holder.get("detail")
    if not isinstance(url, str) or not (detail is None or isinstance(detail, str)):
        return None
    part = from_url(url, "image", detail=detail)
    part.extra = marks(item, {"type", "image_url", "detail"}, shape)
    return part


def _bare(item: JsonObject, shape: ChatShape) -> MediaPart | None:
    kind = "image" if item["type"] == "image" else "audio" if item["type"] == "audio" else "video"
    for key in ("url", kind):
        url = item.get(key)
        if isinstance(url, str):
            part = from_url(url, kind)
            part.extra = marks(item, {"type", key}, shape)
            return part
    data = item.get("base64")
    if not isinstance(data, str):
        return None
    return MediaPart(kind, media_type_in(data), data, extra=marks(item, {"type", "base64"}, shape))


def _audio(item: JsonObject, shape: ChatShape) -> MediaPart | None:
    sound = item.get("input_audio")
    extra = marks(item, {"type", "input_audio"}, shape)
    if isinstance(sound, str):
        return MediaPart("audio", media_type_in(sound), sound, extra=extra)
    if not is_object(sound) or not isinstance(sound.get("data"), str) or not isinstance(sound.get("format", ""), str):
        return None
    return MediaPart("audio", f"audio/{sound.get('format', 'wav')}", sound["data"], extra=extra)


def _file(item: JsonObject, shape: ChatShape) -> MediaPart | None:
    file = item.get("file")
    holder = file if is_object(file) else item
    data, known, name = holder.get("file_data"), holder.get("file_id"), holder.get("filename")
    if not (name is None or isinstance(name, str)):
        return None
    extra = marks(item, {"type", "file", "file_data", "file_id", "filename"}, shape)
    if isinstance(data, str):
        part = file_of(data, name)
        part.extra = extra
        return part
    if not isinstance(known, str):
        return None
    return MediaPart("document", file_id=known, name=name, owner=shape.provider, extra=extra)


def _address(item: JsonObject, shape: ChatShape) -> MediaPart | None:
    key = item["type"]
    url = item.get(key)
    if is_object(url):
        url = url.get("url")
    name = item.get("document_name")
    if not isinstance(url, str) or not (name is None or isinstance(name, str)):
        return None
    kind = "document" if key == "document_url" else "audio" if key == "audio_url" else "video"
    part = from_url(url, kind, name=name)
    part.extra = marks(item, {"type", key, "document_name"}, shape)
    return part


READERS: Final[dict[str, Callable[[JsonObject, ChatShape], MediaPart | None]]] = {
    "image_url": _image,
    "image": _bare,
    "audio": _bare,
    "video": _bare,
    "input_audio": _audio,
    "audio_url": _address,
    "video_url": _address,
    "document_url": _address,
    "file": _file,
}
"""What reads a part of each type; None for one that is not as it should be."""


def write_media(part: MediaPart, shape: ChatShape) -> JsonObject | None:
    """Write a part of a message's content; None where the format has no place for it."""
    return _WRITERS[shape.media](part, shape.provider)


_SOUNDS: Final = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
}
"""The `format` of each type of sound that is taken."""


def _as_object(part: MediaPart, provider: str) -> JsonObject | None:
    url = to_url(part)
    if part.kind == "image" and url is not None:
        return {"type": "image_url", "image_url": {"url": url} | ({"detail": part.detail} if part.detail else {})}
    sound = _SOUNDS.get(part.media_type.partition(";")[0].lower())
    if part.kind == "audio" and part.data is not None and sound is not None:
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": sound}}
    known = part.file_id if part.owner == provider else None
    if part.kind == "document" and (part.data is not None or known is not None):
        named = file_name(part) if part.data is not None else part.name
        file = {"filename": named, "file_data": url if part.data is not None else None, "file_id": known}
        return {"type": "file", "file": {key: value for key, value in file.items() if value is not None}}
    return None


def _as_address(part: MediaPart, provider: str) -> JsonObject | None:
    url = to_url(part)
    if part.kind == "image" and url is not None:
        return {"type": "image_url", "image_url": {"url": url, "detail": part.detail} if part.detail else url}
    if part.kind == "audio" and part.data is not None:
        return {"type": "input_audio", "input_audio": part.data}
    if part.kind == "document" and url is not None:
        name = {} if part.name is None else {"document_name": part.name}
        return {"type": "document_url", "document_url": url, **name}
    if part.kind == "document" and part.file_id is not None and part.owner == provider:
        return {"type": "file", "file_id": part.file_id}
    return None


def _as_part(part: MediaPart, _: str) -> JsonObject | None:
    url = to_url(part)
    return {"type": part.kind, "url": url} if url is not None and part.kind != "document" else None


_WRITERS: Final[dict[str, Callable[[MediaPart, str], JsonObject | None]]] = {
    "object": _as_object,
    "url": _as_address,
    "part": _as_part,
    "list": lambda _, __: None,
}
