"""Numbers by their bounds, as regular nodes.

    integers(1, 12)          [1-9] | "1" [0-2]
    decimals(0, 1, ...)      "0" ("." [0-9]{1,15})? | "1" ("." "0"{1,15})?

Integers have at most 19 digits and other numbers at most 15 significant ones, unless a bound is longer, so that a float
holds each number exactly as it is written.
"""

from __future__ import annotations

from typing import Final

from toolfmt.workshop.grammars.nodes import DIGIT, NOTHING, Alt, Lit, Node, Repeat, chars, either, maybe, sequence

MOST_DIGITS: Final = 19
MOST_SIGNIFICANT: Final = 15
_NONZERO: Final = chars((0x31, 0x39))
_EXPONENT: Final = maybe(sequence(chars("eE"), maybe(chars("+-")), Repeat(DIGIT, 1, 2)))


def integers(low: int | None, high: int | None) -> Node:
    """Return the whole numbers from `low` to `high`, both included; None is no bound."""
    if low is None and high is None:
        digits = sequence(_NONZERO, Repeat(DIGIT, 0, MOST_DIGITS - 1))
        return either(Lit("0"), sequence(maybe(Lit("-")), digits))
    if low is not None and high is not None and low > high:
        return Alt(())
    parts: list[Node] = []
    if low is None or low < 0:
        most = None if low is None else -low
        least = 1 if high is None or high >= 0 else -high
        parts.append(sequence(Lit("-"), _naturals(least, most)))
    if high is None or high >= 0:
        parts.append(_naturals(max(low or 0, 0), high))
    return either(*parts)


def decimals(low: tuple[int, bool] | None, high: tuple[int, bool] | None) -> Node:
    """Return the numbers between whole bounds, each with whether it is excluded; with a bound, no exponents."""
    if low is None and high is None:
        lengths = (
            sequence(_NONZERO, Repeat(DIGIT, left, left), _fraction(MOST_SIGNIFICANT - 1 - left))
            for left in range(MOST_SIGNIFICANT - 1)
        )
        whole = sequence(_NONZERO, Repeat(DIGIT, 0, MOST_SIGNIFICANT - 1))
        zero = sequence(Lit("0"), maybe(_fraction(MOST_SIGNIFICANT)))
        return sequence(maybe(Lit("-")), either(zero, whole, *lengths), _EXPONENT)
    parts: list[Node] = []
    if low is None or low[0] < 0:
        outer = None if low is None else (-low[0], low[1])
        inner = (0, True) if high is None or high[0] >= 0 else (-high[0], high[1])
        parts.append(sequence(Lit("-"), _positive(inner, outer)))
    if high is None or high[0] >= 0:
        parts.append(_positive(low if low is not None and low[0] >= 0 else (0, False), high))
    return either(*parts)


def _positive(low: tuple[int, bool], high: tuple[int, bool] | None) -> Node:
    """Return the numbers from a bound that is not negative."""
    least, past = low
    fraction = maybe(_fraction(MOST_SIGNIFICANT - len(str(least if high is None else high[0]))))
    zeros = maybe(sequence(Lit("."), Repeat(Lit("0"), 1, 6)))
    more = sequence(Lit("."), Repeat(DIGIT, 0, 6), _NONZERO, Repeat(DIGIT, 0, 6))
    parts: list[Node] = []
    if high is not None and least == high[0]:
        return Alt(()) if past or high[1] else sequence(Lit(str(least)), zeros)
    parts.append(sequence(Lit(str(least)), more if past else fraction))
    if high is None:
        digits = len(str(least + 1))
        parts.append(sequence(_naturals(least + 1, 10**digits - 1), fraction))
        for left in range(digits, max(MOST_SIGNIFICANT, digits + 1)):
            rest = MOST_SIGNIFICANT - 1 - left
            fraction = maybe(_fraction(rest)) if rest > 0 else NOTHING
            parts.append(sequence(_NONZERO, Repeat(DIGIT, left, left), fraction))
    else:
        if least + 1 < high[0]:
            parts.append(sequence(_naturals(least + 1, high[0] - 1), fraction))
        if not high[1]:
            parts.append(sequence(Lit(str(high[0])), zeros))
    return either(*parts)


def _fraction(digits: int) -> Node:
    return sequence(Lit("."), Repeat(DIGIT, 1, max(digits, 1)))


def _naturals(low: int, high: int | None) -> Node:
    """Return whole numbers that are not negative, without leading zeros."""
    parts: list[Node] = []
    if high is None:
        digits = len(str(low))
        high = 10**digits - 1
        parts.append(sequence(_NONZERO, Repeat(DIGIT, digits, max(MOST_DIGITS - 1, digits))))
    for length in range(len(str(low)), len(str(high)) + 1):
        least = max(low, 10 ** (length - 1) if length > 1 else 0)
        parts.append(_same_length(str(least), str(min(high, 10**length - 1))))
    return either(*parts)


def _same_length(low: str, high: str) -> Node:
    """Return the digits from `low` to `high`, which have the same length."""
    if not low:
        return NOTHING
    if low[0] == high[0]:
        return sequence(Lit(low[0]), _same_length(low[1:], high[1:]))
    rest = len(low) - 1
    first, last = int(low[0]), int(high[0])
    parts: list[Node] = []
    if low[1:].strip("0"):
        parts.append(sequence(Lit(low[0]), _same_length(low[1:], "9" * rest)))
        first += 1
    if high[1:].strip("9"):
        parts.append(sequence(Lit(high[0]), _same_length("0" * rest, high[1:])))
        last -= 1
    if first <= last:
        parts.append(sequence(chars((0x30 + first, 0x30 + last)), Repeat(DIGIT, rest, rest) if rest else NOTHING))
    return either(*parts)
