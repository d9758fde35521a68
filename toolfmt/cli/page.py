"""Conversations as one self-contained HTML file.

All text of a conversation is escaped, or is Markdown without HTML whose links lead only to the web. In addition the
page's content security policy allows no script but its own, no form and no external resource.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from toolfmt import conversation, jsontext
from toolfmt.cli.output import visible
from toolfmt.errors import ParseError
from toolfmt.model import JsonValue
from toolfmt.transcripts.comparing.linking import Place, flatten

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


BlockKind: TypeAlias = Literal["text", "reasoning", "refusal", "call", "result", "error", "data", "tool"]

_SCREEN: Final = 1000
"""Characters of arguments that are shown unfolded."""
_PICTURES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]+=*")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message: its kind, title and text; `picture` is a data URL, `results` are a call's."""

    kind: BlockKind
    title: str
    text: str
    picture: str = ""
    results: tuple[Block, ...] = ()

    @property
    def folded(self) -> bool:
        """Whether it is folded at first."""
        return self.kind not in {"text", "refusal", "call"}

    @property
    def long(self) -> bool:
        """Whether it would fill a screen."""
        return len(self.text) > _SCREEN

    @property
    def labelled(self) -> bool:
        """Whether its kind is shown."""
        return self.kind not in {"text", "refusal"}


@dataclass(frozen=True, slots=True)
class Turn:
    """The blocks of one message."""

    speaker: str
    role: str
    blocks: tuple[Block, ...]


def turns(transcript: conversation.Transcript) -> Iterator[Turn]:
    """Yield the messages, with results below their calls; control characters are escaped."""
    places = flatten(transcript.messages)
    results: dict[int, list[Block]] = {}
    for place in places:
        if isinstance(place.part, conversation.ResultPart) and place.call is not None:
            results.setdefault(place.call, []).extend(_result(place.part))
    for number, group in groupby(places, key=lambda place: place.message):
        message = transcript.messages[number]
        run = list(group)
        blocks = tuple(block for place in run for block in _blocks(place, results))
        if blocks or not all(isinstance(place.part, conversation.ResultPart) for place in run):
            name = f"{message.role} {visible(message.name)}" if message.name else message.role
            yield Turn(name, message.role, blocks)


def tools(transcript: conversation.Transcript) -> list[Block]:
    """Return the tools that a conversation declares."""
    return [_tool(tool) for tool in transcript.tools or ()]


def _tool(tool: conversation.ToolDeclaration) -> Block:
    parts = [tool.description or "", "" if tool.parameters is None else _json(tool.parameters)]
    return Block("tool", visible(tool.name), visible("\n\n".join(filter(None, parts))))


def _blocks(place: Place, results: dict[int, list[Block]]) -> Iterator[Block]:
    part = place.part
    if isinstance(part, conversation.CallPart):
        yield replace(_block(part), results=tuple(results.get(place.call, ())) if place.call is not None else ())
    elif isinstance(part, conversation.ResultPart):
        if place.call is None:
            yield from _result(part, "(of no call)")
    elif part is not None:
        yield _block(part)


def _result(part: conversation.ResultPart, *more: str) -> Iterator[Block]:
    kind: BlockKind = "error" if part.is_error else "result"
    inner = [_block(content) for content in part.content]
    text = "\n".join(block.text for block in inner if not block.picture)
    yield Block(kind, visible(" ".join(filter(None, (part.name or "", part.id or "", *more)))), text)
    yield from (block for block in inner if block.picture)


def _block(part: conversation.Part | conversation.Content) -> Block:
    match part:
        case conversation.TextPart(text=text) | conversation.RefusalPart(text=text):
            return Block("text" if isinstance(part, conversation.TextPart) else "refusal", "", visible(text))
        case conversation.ReasoningPart(text=text):
            return Block("reasoning", "", visible(text) or "(encrypted)")
        case conversation.CallPart():
            broken = conversation.parse_failure(part)
            title = " ".join(filter(None, (part.name, part.id or "", f"(broken: {broken})" if broken else "")))
            return Block("call", visible(title), visible(_arguments(part)))
        case conversation.MediaPart():
            return _media(part)
        case conversation.JsonPart(value=value):
            return Block("data", "JSON", visible(_json(value)))
        case conversation.OpaquePart(owner=owner, value=value):
            return Block("data", visible(f"of {owner} alone"), visible(_json(value)))
        case conversation.ResultPart():
            raise AssertionError("a result is no part of a result")


def _media(part: conversation.MediaPart) -> Block:
    where = part.url or part.file_id or (f"{len(part.data) * 3 // 4} bytes" if part.data else "nothing")
    title = visible(" ".join(filter(None, (part.kind, part.media_type, part.name or ""))))
    picture = ""
    if part.data and part.media_type in _PICTURES and _BASE64.fullmatch(part.data):
        picture = f"data:{part.media_type};base64,{part.data}"
    return Block("data", title, visible(where), picture)


def _arguments(part: conversation.CallPart) -> str:
    if part.custom:
        return part.text or ""
    try:
        return jsontext.dumps(part.value)
    except ParseError:
        return part.text or ""


def _json(value: JsonValue) -> str:
    return jsontext.dumps(value, indent=2)


_LONG: Final = 200_000
"""Longer text is shown unchanged, because rendering it as Markdown would take seconds."""
_WEB: Final = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A conversation of a page, or the reason why it cannot be read."""

    title: str
    format: str = ""
    turns: Sequence[Turn] = ()
    tools: Sequence[Block] = ()
    reason: str = ""
    ended: str = ""
    """That answers are cut off or blocked."""
    notes: Sequence[str] = ()
    """What to say of it: the reason, what else its file contains, how answers ended."""

    @property
    def about(self) -> str:
        """Its first words, for the index."""
        texts = (block.text for turn in self.turns if turn.role == "user" for block in turn.blocks if block.text)
        return self.reason or " ".join(next(texts, "").split())


def page(title: str, shown: Sequence[Shown]) -> str:
    """Write the page."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    template = environment.from_string(_file("page.html.jinja"))
    script = _file("page.js")
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    return template.render(title=title, shown=shown, script=script, allowed=allowed, markdown=_markdown)


def _file(name: str) -> str:
    return files("toolfmt.cli").joinpath(name).read_text("utf-8")


def _markdown(text: str) -> str:
    """Render Markdown: HTML stays text, pictures become links, and links lead only to the web."""
    return f"<pre>{escape(text)}</pre>" if len(text) > _LONG else _reader().render(text)


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    made.disable("image")
    made.validateLink = lambda url: url.lower().startswith(_WEB)
    made.add_render_rule("link_open", _link)
    return made


def _link(self: Any, tokens: Any, at: int, options: Any, _env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    return self.renderToken(tokens, at, options, _env)
