"""Conversations as one self-contained HTML file.

All text of a conversation is escaped, or is Markdown without HTML whose links lead only to the web. In addition the
page's content security policy allows no script but its own, no form and no external resource.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt

    from toolfmt.cli.blocks import Block, Turn

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
    beside: Sequence[str] = ()
    """What else its file contains that is not shown."""
    damaged: bool = False
    """Whether a line of its file could not be read."""

    @property
    def about(self) -> str:
        """Its first words, for the index."""
        said = (block.text for turn in self.turns if turn.role == "user" for block in turn.blocks if block.text)
        return self.reason or " ".join(next(said, "").split())


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
    made.validateLink = _is_web
    made.add_render_rule("link_open", _link)
    return made


def _is_web(url: str) -> bool:
    return url.lower().startswith(_WEB)


def _link(self: Any, tokens: Any, at: int, options: Any, _env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    return self.renderToken(tokens, at, options, _env)
