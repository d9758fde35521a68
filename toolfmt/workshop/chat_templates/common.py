"""What texts begin and end with alike."""

from __future__ import annotations

from itertools import takewhile


def beginning(*texts: str) -> str:
    """Give what all texts begin with."""
    return "".join(chars[0] for chars in takewhile(lambda chars: len(set(chars)) == 1, zip(*texts, strict=False)))


def ending(*texts: str) -> str:
    """Give what all texts end with."""
    return beginning(*(text[::-1] for text in texts))[::-1]
