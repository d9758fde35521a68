"""Citations: what each format calls the source of a text, and the same in another's words.

    source({"type": "url_citation", "url_citation": {"url": "https://e.com", "title": "T", "start_index": 0}})
    {"url": "https://e.com", "title": "T", "start": 0}

A `TextPart` keeps citations as their format writes them. A writer takes those
that are its own as they came, and writes the others from what they all say: an
address, a title, a quotation, and which part of the text is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import TextPart
from toolfmt.jsontext import is_object
from toolfmt.transcripts.parts.values import at, put

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_PATHS: Final[Mapping[str, Sequence[str]]] = {
    "url": (
        "url",
        "url_citation.url",
        "location.web.url",
        "web.uri",
        "uri",
        "sources.0.url",
        "sources.0.document.url",
        "document_uri",
        "source",
    ),
    "title": (
        "title",
        "url_citation.title",
        "web.title",
        "document_title",
        "filename",
        "file_name",
        "sources.0.title",
        "sources.0.document.title",
    ),
    "quote": ("cited_text", "sourceContent.0.text", "sources.0.excerpts.0", "sources.0.document.snippet"),
    "start": ("start_index", "url_citation.start_index", "anchor.start", "start"),
    "end": ("end_index", "url_citation.end_index", "anchor.end", "end"),
}
"""Where a citation says each thing, whoever wrote it."""


def source(citation: JsonObject) -> JsonObject:
    """Say a citation in shared terms: `url`, `title`, `quote`, `start` and `end`, as far as it says them."""
    found = {
        name: next((value for path in paths if _fits(name, value := at(citation, path))), None)
        for name, paths in _PATHS.items()
    }
    return {name: value for name, value in found.items() if value is not None}


def same(a: Sequence[JsonObject], b: Sequence[JsonObject]) -> bool:
    """Whether two lists of citations say the same, each in its own words."""
    return len(a) == len(b) and all(x == y or source(x) == source(y) != {} for x, y in zip(a, b, strict=True))


def _fits(name: str, value: JsonValue) -> bool:
    if name in ("start", "end"):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) and bool(value) and (name != "url" or "://" in value)


def cited(
    part: TextPart, form: Callable[[JsonObject, TextPart], JsonObject] | None, own: Callable[[JsonObject], bool]
) -> list[JsonObject]:
    """Write a text's citations: those that are `own` as they came, others in the format's form by their address."""
    written: list[JsonObject] = []
    for citation in part.citations:
        fields = source(citation)
        if own(citation):
            written.append(citation)
        elif form is not None and "url" in fields:
            written.append(form(fields, part))
    return written


def cited_at(
    citation: JsonObject,
    by: int,
    text: str,
    form: Callable[[JsonObject, TextPart], JsonObject] | None,
    own: Callable[[JsonObject], bool],
) -> JsonObject | None:
    """Write one citation of the text that follows the first `by` characters of another one; None without a form."""
    if own(citation):
        return moved(citation, by)
    fields = source(citation)
    if form is None or "url" not in fields:
        return None
    end = fields["end"] + by if "end" in fields else len(text)
    return form({**fields, "start": fields.get("start", 0) + by, "end": end}, TextPart(text))


def moved(citation: JsonObject, by: int) -> JsonObject:
    """Move what a citation of OpenAI's or Cohere's is about, where texts are joined or taken apart."""
    if not by:
        return citation
    kind = citation.get("type")
    inner = citation.get(kind) if isinstance(kind, str) else None
    if is_object(inner) and isinstance(kind, str):
        return {**citation, kind: moved(inner, by)}
    places = {
        key: citation[key] + by
        for key in ("start_index", "end_index", "start", "end")
        if isinstance(citation.get(key), int)
    }
    return {**citation, **places}


def flat(fields: JsonObject, part: TextPart) -> JsonObject:
    """Write a citation as OpenAI's Responses and Google have it."""
    return {
        "type": "url_citation",
        "url": fields["url"],
        "title": fields.get("title", ""),
        "start_index": fields.get("start", 0),
        "end_index": fields.get("end", len(part.text)),
    }


def nested(fields: JsonObject, part: TextPart) -> JsonObject:
    """Write a citation as OpenAI's chat has it."""
    inner = flat(fields, part)
    return {"type": inner.pop("type"), "url_citation": inner}


def anchored(fields: JsonObject, part: TextPart) -> JsonObject:
    """Write a citation as pydantic-ai has it."""
    page: JsonObject = {"url": fields["url"], "title": fields.get("title"), "kind": "web"}
    page["excerpts"] = [fields["quote"]] if "quote" in fields else []
    start, end = fields.get("start"), fields.get("end")
    placed = isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(part.text)
    anchor: JsonValue = {"start": start, "end": end, "kind": "content"} if placed else None
    return {"sources": [page], "anchor": anchor}


def grounded(fields: JsonObject, part: TextPart) -> JsonObject:
    """Write a citation as Cohere has it."""
    names = {"url": "url", "title": "title", "quote": "snippet"}
    page: JsonObject = {names[key]: value for key, value in fields.items() if key in names}
    start, end = fields.get("start", 0), fields.get("end", len(part.text))
    found: JsonValue = {"type": "document", "id": fields["url"], "document": page}
    return {"start": start, "end": end, "text": part.text[start:end], "sources": [found]}


def grounds(item: JsonObject) -> bool:
    """Whether a citation is in Cohere's words."""
    return "sources" in item and "start" in item


def _form(kind: JsonObject, *places: tuple[str, str]) -> Callable[[JsonObject, TextPart], JsonObject]:
    """Make what writes a citation from what it says and where a format has each thing."""

    def write(fields: JsonObject, _: TextPart) -> JsonObject:
        made = dict(kind)
        for name, place in places:
            if name in fields:
                put(made, place, fields[name])
        return made

    return write


converse: Final = _form({}, ("title", "title"), ("quote", "sourceContent.0.text"), ("url", "location.web.url"))
"""Writes a citation as Bedrock has it."""
sourced: Final = _form({"type": "source-url"}, ("url", "sourceId"), ("url", "url"), ("title", "title"))
"""Writes a citation as the AI SDK's messages have it."""
standard: Final = _form(
    {"type": "citation"},
    ("url", "url"),
    ("title", "title"),
    ("quote", "cited_text"),
    ("start", "start_index"),
    ("end", "end_index"),
)
"""Writes a citation as LangChain has it."""
addressed: Final = _form(
    {"type": "url", "url": None, "title": None}, ("url", "url"), ("title", "title"), ("quote", "cited_text")
)
"""Writes a citation as Inspect has it."""
