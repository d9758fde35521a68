"""Where a call without a marker of its own may begin: what is held back is compared with every way to go on."""

from __future__ import annotations

from itertools import product

import pytest

from toolfmt.detection.offers import Offers

NAMES = ("a", "ab", "bad")
OFFERS = Offers(NAMES)
ENDS = (" ", "/", ">", "\n{", "\n {", " \n{", "\t\n\n{")
"""What may follow a tool's name."""
RESTS = sorted({name[at:] + end for name in NAMES for at in range(len(name) + 1) for end in ENDS} | {"{", " {"})
"""Ways to go on after a text that has ended anywhere in a call's beginning."""


def _first(text: str) -> int:
    """Return the first place from which some continuation makes a call, the text's length if there is none."""
    found = [at.start() for rest in RESTS for at in OFFERS.anywhere.finditer(text + rest) if at.start() < len(text)]
    if not text[:1].isspace() and any(OFFERS.first.match(text + rest) for rest in RESTS):
        found.append(0)  # a name at the beginning needs nothing before it
    return min(found, default=len(text))


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_text_is_held_back_from_the_first_place_that_may_still_become_a_call(length: int) -> None:
    for text in map("".join, product("<ab\n> ", repeat=length)):
        if text.endswith("<") or OFFERS.anywhere.search(
            text
        ):  # a last `<` is held back as any marker's first character
            continue
        assert OFFERS.begun(text) == _first(text), repr(text)


def test_long_words_are_not_held_back() -> None:
    name = "a" * 300
    offers = Offers((name,))
    assert [offers.begun(name[:size]) for size in (256, 257)] == [0, 257]
    assert [offers.begun(f"{name[:size]}\n") for size in (255, 256, 257)] == [255, 256, 257]
