"""Find calls of a tool whose name is misspelt, in formats where only an offered tool's name makes a call.

    {"name": "get_wether", "parameters": {"city": "Rome"}}      no tool is called 'get_wether'
    <get_wether><city>Rome</city></get_wether>                  did you mean 'get_weather'?

A word in the place of a name is replaced with the name of an offered tool that is similar. If the format then reads a
call of that tool, the word was meant as its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Final

from toolfmt.errors import did_you_mean
from toolfmt.events import CallEnd, CallFailed

_READ: Final = 8192
"""Characters of a text that are searched."""
_WORDS: Final = 32
"""Words that are compared with the tools' names."""
_TRIED: Final = 4
"""Words for which the text is read again."""
_CLOSE: Final = 0.75
"""How much of a name must be right."""
_BRACKET: Final = re.compile(r"[<{\[]").search
_NAME: Final = re.compile(r"""(?:(?<=["'<=>\[/])|(?<![^\n]))[A-Za-z_][\w.\-]{2,63}(?=["'>(\[{/\n])""")
"""A word where calls have the name of a tool: in quotes or in a tag, before a bracket, or alone in its line."""


def misnamed_call(
    text: str, names: Collection[str], dialect: str, read: Callable[[str, str], Sequence[CallEnd | CallFailed]]
) -> tuple[str, str] | None:
    """Return the call of a misspelt tool in a text, and what is wrong with it; `read` reads it in a dialect."""
    text = text[:_READ]
    if not _BRACKET(text):
        return None
    words = [word for word in dict.fromkeys(_NAME.findall(text)) if word not in names][:_WORDS]
    likely = [(word, near[0]) for word in words if (near := get_close_matches(word, [*names], 1, _CLOSE))]
    for word, name in likely[:_TRIED]:
        place = re.compile(rf"(?<![\w.\-]){re.escape(word)}(?![\w.\-])")
        events = read(place.sub(name, text), dialect or "auto")
        called = [event for event in events if (event.call.name if isinstance(event, CallEnd) else event.name) == name]
        found = place.search(text)
        if called and found is not None:
            start = min(called[0].span[0], found.start())  # of the text with the right name
            return text[start:].strip(), f"no tool is called {word!r}; {did_you_mean((name,))}"
    return None
