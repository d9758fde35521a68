"""Choose a format by dialect, provider, model, or with XML forced.

    parse(answer, provider="anthropic")
    manifest(tools, model="gpt-4o")
    render_calls(calls, dialect="xml-items")

Every function that chooses a format takes the same five options.
"""

from __future__ import annotations

from typing import TypedDict

from toolfmt.dialect.record import AnyDialect
from toolfmt.lookup.registry import Registry, default_registry, registry_for


class Choice(TypedDict, total=False):
    """Options that choose a format.

    `dialect` is a dialect or its name. `use_xml=True` forces XML. Otherwise the `provider` decides, with its
    exceptions by `model`; a `model` alone is looked up by its id. Without any of them, text is parsed as `auto` and
    written as the default JSON. An unknown name raises `UnknownDialectError`. `registry` replaces the process-wide
    one.
    """

    dialect: AnyDialect | str | None
    provider: str | None
    model: str | None
    use_xml: bool
    registry: Registry | None


def chosen(choice: Choice) -> tuple[AnyDialect, Registry]:
    """The dialect chosen, and the registry it came from."""
    registry = choice.get("registry") or registry_for(choice.get("dialect"))
    dialect = registry.resolve(
        dialect=choice.get("dialect"),
        provider=choice.get("provider"),
        model=choice.get("model"),
        use_xml=choice.get("use_xml", False),
    )
    return dialect, registry


def nothing_chosen(choice: Choice) -> bool:
    """Whether no format is chosen."""
    named = (choice.get("dialect"), choice.get("provider"), choice.get("model"))
    return all(one is None for one in named) and not choice.get("use_xml", False)


def chosen_registry(choice: Choice) -> Registry:
    """The registry given, or the process's."""
    return choice.get("registry") or default_registry()
