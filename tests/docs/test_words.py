"""Prose keeps to plain terms: one word for one thing."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "toolfmt"
WORDS = {
    "told": "reported, raised, given, known",
    "behind": "after",
    "stands": "is, appears",
    "hears": "is notified",
    "what is none": "anything else",
}
IDIOMS = re.compile(r"told apart|stands (?:apart )?for", re.IGNORECASE)


def prose(path: Path) -> str:
    """Give a module's comments and texts, names of things left out."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    texts = (token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))
    return IDIOMS.sub("", re.sub(r"\s+", " ", " ".join(texts)))


def test_the_package_is_in_plain_words() -> None:
    said = {path: prose(path) for path in PACKAGE.rglob("*.py")}
    found = {
        (path.relative_to(PACKAGE).as_posix(), word): instead
        for path, text in said.items()
        for word, instead in WORDS.items()
        if re.search(rf"\b{word}\b", text, re.IGNORECASE)
    }
    assert len(said) > 300
    assert found == {}
