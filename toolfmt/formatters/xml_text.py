"""Text inside XML-like markup."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[&<>]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_SLOT_SPECIAL = re.compile(r"""[&<>{"'\n\r\t]|^\s|\s$""")


def escape_text(text: str) -> str:
    """Escape text between tags; line breaks and quotes stay as they are."""
    return _SPECIAL.sub(lambda found: _ENTITIES[found.group()], text)


def escape_slot(text: str) -> str:
    """Escape an attribute's value or a name, so that outer blanks and line breaks survive too."""
    return _SLOT_SPECIAL.sub(lambda found: _ENTITIES.get(found.group()) or f"&#{ord(found.group())};", text)


CDATA = ("<![CDATA[", "]]>")


def cdata(text: str) -> str:
    """Wrap text in CDATA; `]]>` inside is split over two sections."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"
