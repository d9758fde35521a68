"""What of a conversation arrives in which format, as `convert` reports it for every pair."""  # noqa: INP001 - beside the script

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

from blocks import codes, prose, table
from charts import heat_map
from traits import TRAITS, Lost

from toolfmt import convert
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find, formats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Losses: TypeAlias = "Mapping[str, Mapping[str, Lost]]"
"""What each trait lost on the way to one format, from each that holds it."""
FORMATS: Final = {made.name: made for made in (*formats(), find("text:hermes")) if made.writable}
"""All formats that can be written; the text of one dialect stands for that of all."""


def matrix_page() -> str:
    """Show how much arrives from each format in each other, and what each one loses."""
    numbers = {name: f"{number}" for number, name in enumerate(FORMATS, 1)}
    return "\n\n".join(
        (
            "# What survives a conversion",
            (
                f"{len(TRAITS)} small conversations test one trait each. Every format that can hold the trait is "
                "converted to every other format. A trait is kept if no loss that concerns it is reported; ids that a "
                "format requires and adds do not count. A lost trait has [a code](losses.md) in "
                "`Conversion.all_losses`, and the residue "
                "[restores it](../explanation/lossless-conversion.md#converting-back-is-a-three-way-merge)."
            ),
            "## Pairs",
            (
                "Each number counts the traits of the row's format that the column's format keeps. A column has the "
                "number of its row. A format's name links to what it keeps and loses. `text:hermes` represents the "
                "text of [any dialect](dialects/index.md)."
            ),
            "![The share of a row's traits that a column keeps](matrix.svg)",
            table(
                ("", "from", "holds", *numbers.values()),
                (
                    (
                        numbers[source],
                        f"[`{source}`](#{_anchor(source)})",
                        str(sum(_holds(source).values())),
                        *(str(_arriving(source, target)) if source != target else "-" for target in FORMATS),
                    )
                    for source in FORMATS
                ),
            ),
            *(part for target in FORMATS for part in _section(target)),
        )
    )


def matrix_chart() -> str:
    """Draw the share of each format's traits that arrives in each other."""
    held = {name: sum(_holds(name).values()) for name in FORMATS}
    shares = {
        (source, target): _arriving(source, target) / held[source]
        for source in FORMATS
        for target in FORMATS
        if source != target
    }
    return heat_map("The share of a row's traits that arrives in a column", tuple(FORMATS), shares)


def _anchor(name: str) -> str:
    return name.replace(":", "")


def _section(target: str) -> Iterator[str]:
    """Tell what one format keeps, and what is reported of the rest."""
    found = measured()[target]
    kept = (trait for trait, own in _holds(target).items() if own and not any(found[trait].values()))
    yield f"## `{target}`"
    yield prose(FORMATS[target].summary)
    yield f"Keeps, from whichever format: {', '.join(kept)}."
    yield table(("does not keep", "is reported as", "from"), _lost(found))


def _lost(found: Losses) -> Iterator[tuple[str, str, str]]:
    for trait, ways in found.items():
        by: dict[Lost, list[str]] = defaultdict(list)
        for source, lost in ways.items():
            by[lost].append(source)
        for lost, sources in by.items():
            if lost:
                others = [source for source in ways if source not in sources]
                least = "all" if not others else f"all but {codes(others)}"
                noticed = least if len(others) < len(sources) else codes(sources)
                yield trait, ", ".join(f"`{code}` {action}" for code, action in lost), noticed


def _arriving(source: str, target: str) -> int:
    return sum(ways.get(source) == () for ways in measured()[target].values())


@cache
def _holds(name: str) -> Mapping[str, bool]:
    """Tell which traits a format holds: what it writes says all of them."""
    made = FORMATS[name]
    return {
        trait: not one.lost(losses(one.conversation, made.read(made.write(shape(one.conversation, made.rules)))))
        for trait, one in TRAITS.items()
    }


@cache
def measured() -> Mapping[str, Losses]:
    """Convert what each format wrote of the traits that it holds to every other."""
    found = {target: {trait: dict[str, Lost]() for trait in TRAITS} for target in FORMATS}
    for source, made in FORMATS.items():
        for trait, one in TRAITS.items():
            if _holds(source)[trait]:
                value = made.write(shape(one.conversation, made.rules))
                for target in FORMATS:
                    if target != source:
                        there = convert(value, source=source, target=target)
                        found[target][trait][source] = one.lost(there.all_losses)
    return found
