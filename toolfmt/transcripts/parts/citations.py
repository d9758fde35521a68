"""Converts citations between the forms of all formats.

    source({"type": "url_citation", "url_citation": {"url": "https://e.com", "title": "T", "start_index": 0}})
    {"url": "https://e.com", "title": "T", "start": 0}

A `TextPart` keeps citations in their format's form. A writer keeps those
of its own format, and writes the others from their common data: an
URL, a title, a quotation, and the cited part of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from toolfmt.conversation import TextPart
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import at, lines, objects_at, put, tagged, word

CitationForm: TypeAlias = Callable[["JsonObject", TextPart], "JsonObject | None"]
"""Writes a citation of a text from its common data; returns None if the format has no place for it."""
_PLACES: Final = {
    "url": "url url_citation.url location.web.url web.uri uri sources.0.url sources.0.document.url document_uri source",
    "title": "title url_citation.title web.title document_title filename file_name sources.0.title "
    "sources.0.document.title",
    "quote": "cited_text sourceContent.0.text sources.0.excerpts.0 sources.0.document.snippet",
    "start": "start_index url_citation.start_index anchor.start start",
    "end": "end_index url_citation.end_index anchor.end end",
}
"""The places of each datum, in all forms of citations."""
_PATHS: Final = {name: places.split() for name, places in _PLACES.items()}
_DOCUMENT: Final = ("documentIndex", "document_index", "document_title")
_SPANS: Final[Mapping[str, Sequence[str]]] = {
    "char_location": ("documentChar", *_DOCUMENT, "start_char_index", "end_char_index"),
    "page_location": ("documentPage", *_DOCUMENT, "start_page_number", "end_page_number"),
    "content_block_location": ("documentChunk", *_DOCUMENT, "start_block_index", "end_block_index"),
    "search_result_location": (
        *("searchResultLocation", "searchResultIndex", "search_result_index", "title"),
        *("start_block_index", "end_block_index"),
    ),
}
"""Places in documents and search results: Anthropic's type, Bedrock's key and its index; Anthropic's keys."""


def source(citation: JsonObject) -> JsonObject:
    """Return a citation's common data: `url`, `title`, `quote`, `start`, `end` and `span`, as far as given."""
    found = {
        name: next((value for path in paths if _fits(name, value := at(citation, path))), None)
        for name, paths in _PATHS.items()
    }
    span = _span(citation)
    return {name: value for name, value in found.items() if value is not None} | ({"span": span} if span else {})


def _span(citation: JsonObject) -> JsonObject:
    """Return the cited place in a document or search result, for Anthropic's and Bedrock's citations."""
    for kind, (key, number, index, _title, start, end) in _SPANS.items():
        if citation.get("type") == kind:
            places = [citation.get(place) for place in (index, start, end)]
        else:
            places = [at(citation, f"location.{key}.{place}") for place in (number, "start", "end")]
        if all(isinstance(place, int) for place in places):
            return {"kind": kind, "places": places, "source": citation.get("source")}
    return {}


def same(a: Sequence[JsonObject], b: Sequence[JsonObject]) -> bool:
    """Whether two lists of citations are equal in their common data."""
    return len(a) == len(b) and all(x == y or source(x) == source(y) != {} for x, y in zip(a, b, strict=True))


def _fits(name: str, value: JsonValue) -> bool:
    if name in ("start", "end"):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) and bool(value) and (name != "url" or "://" in value)


def cited(part: TextPart, form: CitationForm | None, own: Callable[[JsonObject], bool]) -> list[JsonObject]:
    """Write a text's citations: the format's `own` unchanged, others in the format's form if possible."""
    written: list[JsonObject] = []
    for citation in part.citations:
        made = citation if own(citation) else form(source(citation), part) if form is not None else None
        written += [] if made is None else [made]
    return written


def cited_at(
    citation: JsonObject, by: int, text: str, form: CitationForm | None, own: Callable[[JsonObject], bool]
) -> JsonObject | None:
    """Write one citation of a text that follows `by` characters of another text; return None if impossible."""
    if own(citation):
        return moved(citation, by)
    fields = source(citation)
    if form is None:
        return None
    end = fields["end"] + by if "end" in fields else len(text)
    return form({**fields, "start": fields.get("start", 0) + by, "end": end}, TextPart(text))


def moved(citation: JsonObject, by: int) -> JsonObject:
    """Move the cited range of OpenAI's and Cohere's citations when texts are joined or split."""
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


def flat(fields: JsonObject, part: TextPart) -> JsonObject | None:
    """Write a citation in the form of OpenAI's Responses and Google."""
    if "url" not in fields:
        return None
    return {
        "type": "url_citation",
        "url": fields["url"],
        "title": fields.get("title", ""),
        "start_index": fields.get("start", 0),
        "end_index": fields.get("end", len(part.text)),
    }


def nested(fields: JsonObject, part: TextPart) -> JsonObject | None:
    """Write a citation in the form of OpenAI's chat."""
    inner = flat(fields, part)
    return None if inner is None else {"type": inner.pop("type"), "url_citation": inner}


def anchored(fields: JsonObject, part: TextPart) -> JsonObject | None:
    """Write a citation in pydantic-ai's form."""
    if "url" not in fields:
        return None
    page: JsonObject = {"url": fields["url"], "title": fields.get("title"), "kind": "web"}
    page["excerpts"] = [fields["quote"]] if "quote" in fields else []
    start, end = fields.get("start"), fields.get("end")
    placed = isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(part.text)
    anchor: JsonValue = {"start": start, "end": end, "kind": "content"} if placed else None
    return {"sources": [page], "anchor": anchor}


def grounded(fields: JsonObject, part: TextPart) -> JsonObject | None:
    """Write a citation in Cohere's form."""
    if "url" not in fields:
        return None
    names = {"url": "url", "title": "title", "quote": "snippet"}
    page: JsonObject = {names[key]: value for key, value in fields.items() if key in names}
    start, end = fields.get("start", 0), fields.get("end", len(part.text))
    found: JsonValue = {"type": "document", "id": fields["url"], "document": page}
    return {"start": start, "end": end, "text": part.text[start:end], "sources": [found]}


def grounds(item: JsonObject) -> bool:
    """Whether a citation is in Cohere's form."""
    return "sources" in item and "start" in item


def located(fields: JsonObject, _: TextPart) -> JsonObject | None:
    """Write a citation of a document or search result in Anthropic's form; those of pages need Anthropic's proof."""
    span = fields.get("span")
    if not is_object(span):
        return None
    _key, _number, index, title, start, end = _SPANS[span["kind"]]
    made: JsonObject = {"type": span["kind"], "cited_text": fields.get("quote", ""), title: fields.get("title")}
    made |= {"source": span["source"] or ""} if title == "title" else {}
    return made | dict(zip((index, start, end), span["places"], strict=True))


def _form(kind: JsonObject, *places: tuple[str, str]) -> CitationForm:
    """Make a function that writes a citation, from the places of its fields in a format."""

    def write(fields: JsonObject, _: TextPart) -> JsonObject | None:
        if "url" not in fields:
            return None
        made = dict(kind)
        for name, place in places:
            if name in fields:
                put(made, place, fields[name])
        return made

    return write


_page: Final = _form({}, ("title", "title"), ("quote", "sourceContent.0.text"), ("url", "location.web.url"))


def converse(fields: JsonObject, part: TextPart) -> JsonObject | None:
    """Write a citation in Bedrock's form."""
    span = fields.get("span")
    if not is_object(span):
        return _page(fields, part)
    key, number, *_ = _SPANS[span["kind"]]
    made: JsonObject = {"title": fields["title"]} if "title" in fields else {}
    made |= {} if span["source"] is None else {"source": span["source"]}
    made |= {"sourceContent": [{"text": fields["quote"]}]} if "quote" in fields else {}
    return made | {"location": {key: dict(zip((number, "start", "end"), span["places"], strict=True))}}


sourced: Final = _form({"type": "source-url"}, ("url", "sourceId"), ("url", "url"), ("title", "title"))
"""Writes a citation in the form of the AI SDK's messages."""
standard: Final = _form(
    {"type": "citation"},
    ("url", "url"),
    ("title", "title"),
    ("quote", "cited_text"),
    ("start", "start_index"),
    ("end", "end_index"),
)
"""Writes a citation in LangChain's form."""
addressed: Final = _form(
    {"type": "url", "url": None, "title": None}, ("url", "url"), ("title", "title"), ("quote", "cited_text")
)
"""Writes a citation in Inspect's form."""


_FOUND: Final = "search_result"
"""The key of `TextPart.extra` for a search result in Anthropic's and Bedrock's form."""


def is_found(part: TextPart) -> bool:
    """Whether a text is a search result."""
    return _FOUND in part.extra


def read_found(item: JsonValue) -> TextPart | None:
    """Read a search result, which becomes tagged text elsewhere; return None if it contains anything but texts."""
    content = item.get("content") if is_object(item) else None
    if not is_object(item) or not is_array(content) or not all(word(block, "text") for block in content):
        return None
    part = tagged(_FOUND, lines(content), title=word(item, "title"), source=word(item, "source"))
    found = {key: item[key] for key in ("source", "title", "citations") if key in item}
    part.citations = tuple(cited for block in filter(is_object, content) for cited in objects_at(block, "citations"))
    part.extra[_FOUND] = {**found, "content": [word(block, "text") for block in content]}
    return part


def write_found(part: TextPart, kind: JsonObject) -> JsonObject:
    """Write a search result; its texts have a field for the `kind` of block."""
    found = part.extra[_FOUND]
    return {**found, "content": [{**kind, "text": text} for text in found["content"]]}
