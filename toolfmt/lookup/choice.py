"""Choose a format by dialect, provider, model, or with XML forced.

    parse(answer, provider="anthropic")
    manifest(tools, model="gpt-4o")
    render_calls(calls, dialect="xml-items")

Every function that chooses a format takes the same five options.
"""

from __future__ import annotations

from difflib import get_close_matches
from inspect import signature
from typing import TYPE_CHECKING, TypedDict

from toolfmt.lookup.registry import Registry, default_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from toolfmt.dialect.record import AnyDialect


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


def chosen_only(choice: Choice, function: Callable[..., object] | None = None) -> tuple[AnyDialect, Registry]:
    """The same for a `function` that takes no options but these and its own; a misspelt one raises TypeError."""
    known_options(choice, Choice.__annotations__, function)
    return chosen(choice)


def known_options(
    options: Mapping[str, object], known: Collection[str], function: Callable[..., object] | None = None
) -> None:
    """Raise TypeError for an unknown option, and suggest a similar one.

    Known are the names in `known` and the keywords of the `function` itself.
    """
    for name in options:
        if name not in known:
            own = signature(function).parameters.values() if function is not None else ()
            known = {*known, *(one.name for one in own if one.kind is one.KEYWORD_ONLY)}
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(known))}"
            raise TypeError(f"there is no option {name!r}{hint}")


def chosen(choice: Choice) -> tuple[AnyDialect, Registry]:
    """The dialect chosen, and the registry it came from."""
    registry = chosen_registry(choice)
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
    registry = choice.get("registry")
    if registry is None:
        return default_registry()
    if not isinstance(registry, Registry):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(f"registry= takes a toolfmt.Registry, not {type(registry).__name__}")
    return registry
