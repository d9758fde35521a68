r"""The content of chat messages: text, images, audio, documents, thoughts; all spellings are read, one is written.

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

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Final

from toolfmt.conversation import JsonPart, MediaPart, ReasoningPart, RefusalPart, TextPart
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_thoughts import read_thinking, write_thinking
from toolfmt.transcripts.parts.media import MediaKind, file_name, file_of, from_url, media_type_in, to_url
from toolfmt.transcripts.parts.values import put_own, rest
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import citations, text


@cache
def content_of(shape: ChatShape) -> PartTable:
    """Make the table of a content's parts."""
    thinking = partial(read_thinking, shape=shape)
    cited = (citations(key, None, bool)._replace(write=None) for key in ("citations", "annotations"))
    return PartTable(
        shape.owner,
        (
            PartRow("text", TextPart, text("text"), *cited),
            PartRow("refusal", RefusalPart, read=_read_refusal, keys=("refusal",)),
            PartRow("thinking", ReasoningPart, read=thinking, write=partial(write_thinking, shape=shape)),
            PartRow("redacted_thinking", ReasoningPart, read=thinking),
            PartRow(
                "document",
                JsonPart,
                read=partial(_read_document, shape=shape),
                write=partial(_write_document, shape=shape) if shape.documents else None,
            ),
            *_media_rows(shape),
            PartRow("", MediaPart, write=lambda part: _WRITERS[shape.media](part, shape.provider), keys=()),
        ),
        marks="kept" if shape.gateways else "read",
        strings=True,
    )


def _read_refusal(item: JsonObject) -> RefusalPart | None:
    return RefusalPart(item["refusal"]) if isinstance(item.get("refusal"), str) else None


def _read_document(item: JsonObject, shape: ChatShape) -> JsonPart | None:
    document = item.get("document")
    data = document.get("data") if is_object(document) else None
    if not is_object(document) or not is_object(data):
        return None
    further = rest(item, {"type", "document"}, shape.owner) | rest(document, {"data"}, f"{shape.owner}.document")
    return JsonPart(data, further)


def _write_document(part: JsonPart, shape: ChatShape) -> JsonObject | None:
    if not is_object(part.value):
        return None
    written: JsonObject = {"type": "document", "document": {"data": part.value}}
    put_own(written, part.extra, shape.owner)
    return written


def _media_rows(shape: ChatShape) -> Iterator[PartRow]:
    """Yield the spellings of media, each with its keys."""
    image, sound = ("image_url", frozenset({"url", "detail"})), ("input_audio", frozenset({"data", "format"}))
    yield PartRow("image_url", MediaPart, read=_image, keys=("image_url", "detail"), within=image)
    yield PartRow("input_audio", MediaPart, read=_audio, keys=("input_audio",), within=sound)
    keys = ("file", "file_data", "file_id", "filename")
    file = partial(_file, provider=shape.provider)
    yield PartRow("file", MediaPart, read=file, keys=keys, within=("file", frozenset(keys)))
    bare: tuple[MediaKind, ...] = ("image", "audio", "video")
    for kind in bare:
        for key in ("url", kind, "base64"):
            yield PartRow(kind, MediaPart, read=partial(_bare, kind=kind, key=key), keys=(key,))
    places: dict[str, MediaKind] = {"audio_url": "audio", "video_url": "video", "document_url": "document"}
    for key, kind in places.items():
        read = partial(_address, kind=kind, key=key)
        yield PartRow(key, MediaPart, read=read, keys=(key, "document_name"), within=(key, frozenset({"url"})))


def image_of(data: str) -> MediaPart:
    """Make a part from an image's bare base64."""
    return MediaPart("image", media_type_in(data), data)


def _image(item: JsonObject) -> MediaPart | None:
    value = item.get("image_url")
    holder = value if is_object(value) else item
    url, detail = value.get("url") if is_object(value) else value, holder.get("detail")
    return from_url(url, "image", detail=detail) if isinstance(url, str) and isinstance(detail, str | None) else None


def _bare(item: JsonObject, kind: MediaKind, key: str) -> MediaPart | None:
    found = item.get(key)
    if not isinstance(found, str):
        return None
    return MediaPart(kind, media_type_in(found), found) if key == "base64" else from_url(found, kind)


def _audio(item: JsonObject) -> MediaPart | None:
    sound = item.get("input_audio")
    if isinstance(sound, str):
        return MediaPart("audio", media_type_in(sound), sound)
    if not is_object(sound) or not isinstance(sound.get("data"), str) or not isinstance(sound.get("format", ""), str):
        return None
    return MediaPart("audio", f"audio/{sound.get('format', 'wav')}", sound["data"])


def _file(item: JsonObject, provider: str) -> MediaPart | None:
    file = item.get("file")
    holder = file if is_object(file) else item
    data, known, name = holder.get("file_data"), holder.get("file_id"), holder.get("filename")
    if not isinstance(name, str | None):
        return None
    if not isinstance(data, str):
        return MediaPart("document", file_id=known, name=name, owner=provider) if isinstance(known, str) else None
    part = file_of(data, name)
    if isinstance(known, str):
        part.file_id, part.owner = known, provider
    return part


def _address(item: JsonObject, kind: MediaKind, key: str) -> MediaPart | None:
    value, name = item.get(key), item.get("document_name")
    url = value.get("url") if is_object(value) else value
    return from_url(url, kind, name=name) if isinstance(url, str) and isinstance(name, str | None) else None


_SOUNDS: Final = {
    **dict.fromkeys(("audio/wav", "audio/wave", "audio/x-wav"), "wav"),
    **dict.fromkeys(("audio/mp3", "audio/mpeg"), "mp3"),
}
"""The `format` of each supported audio type."""


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


_DETAILS: Final = frozenset({"low", "auto", "high"})
"""mistralai 3.7, models/imagedetail.py."""


def _as_address(part: MediaPart, provider: str) -> JsonObject | None:
    url = to_url(part)
    if part.kind == "image" and url is not None:
        return {
            "type": "image_url",
            "image_url": {"url": url, "detail": part.detail} if part.detail in _DETAILS else url,
        }
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
