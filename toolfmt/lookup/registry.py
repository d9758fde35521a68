"""The registry, which finds a dialect by its name, a provider or a model.

A `Registry` is immutable: the `with_` methods return a new one. The formatters that show tools and the parser that
reads the answer are both chosen by `Registry.resolve`, so they always agree. The default registry has the package's
own dialects and those of installed packages; `register` and `register_override` replace it for the whole process.

The package's own dialects are in the modules of `toolfmt.dialects`, each with a `DIALECT` or, for a family, a tuple
`DIALECTS`. Third parties declare an entry point whose value is a `Dialect`:

    [project.entry-points."toolfmt.dialects"]
    acme = "acme_tools.wire:DIALECT"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from toolfmt.arguments import checked
from toolfmt.dialect.record import AnyDialect, Dialect, ExampleFormatter, Parser, ParserOptions, SchemaFormatter
from toolfmt.errors import (
    BrokenDialectError,
    DialectRecordError,
    DuplicateDialectError,
    ToolFmtError,
    UnknownDialectError,
    close_names,
)
from toolfmt.lookup.plugins import package_dialects, plugin_dialect, plugins
from toolfmt.lookup.providers import (
    DEFAULT_DIALECT,
    MODEL_PATTERNS,
    PROVIDERS,
    XML_DIALECT,
    ModelPattern,
    Provider,
    family,
    match_model,
    model_names,
    respelt,
)

FormatterPair: TypeAlias = tuple[SchemaFormatter, ExampleFormatter]


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


NamedT = TypeVar("NamedT", bound=_Named)

AUTO = "auto"
"""The word for the dialect that is detected from the text; it is no dialect."""
_TOLD = 3
"""How many readings of an unknown model's id are listed."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Registry:
    """Dialects and providers by name; names ignore case and take `_` for `-`.

    `broken` are dialects of other packages that could not be loaded, by name.
    Duplicate names raise `DuplicateDialectError`.
    """

    dialects: Sequence[AnyDialect] = ()
    providers: Sequence[Provider] = PROVIDERS
    models: Sequence[ModelPattern] = MODEL_PATTERNS
    overrides: Mapping[tuple[str, str], FormatterPair] = field(default_factory=dict[tuple[str, str], FormatterPair])
    broken: Mapping[str, ToolFmtError] = field(default_factory=dict[str, ToolFmtError])
    _dialects: Mapping[str, AnyDialect] = field(init=False, repr=False)
    _providers: Mapping[str, Provider] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index both tables by every name and alias."""
        for name in ("dialects", "providers", "models"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "_dialects", _by_name("dialect", self.dialects))
        object.__setattr__(self, "_providers", _by_name("provider", self.providers))

    def __repr__(self) -> str:
        """Count what it holds: a record is too long to print."""
        return f"Registry({len(self.dialects)} dialects, {len(self.providers)} providers)"

    def __iter__(self) -> Iterator[AnyDialect]:
        """Iterate over the dialects, sorted by name."""
        return iter(sorted(self.dialects, key=lambda dialect: dialect.name))

    def __contains__(self, name: str) -> bool:
        """Return whether a dialect has this name or alias."""
        return _spelling(name) in self._dialects

    def names(self) -> tuple[str, ...]:
        """List the dialects' names, without their aliases, in alphabetical order."""
        return tuple(dialect.name for dialect in self)

    def dialect(self, name: str | AnyDialect) -> AnyDialect:
        """Look up a dialect by name or alias; a `Dialect` is returned after a check that it reads a call that it wrote.

        Raises `UnknownDialectError` with similar names, `DialectRecordError` for a `Dialect` that cannot read its own
        call, and the error in `broken` for a dialect that could not be loaded.
        """
        if isinstance(name, Dialect):
            return name if self._dialects.get(name.name) is name else _proven(name)
        key = _spelling(name, "dialect", " or a toolfmt.Dialect")
        if key in self._dialects:
            return self._dialects[key]
        if key in self.broken:
            raise self.broken[key].with_traceback(None)  # one object, raised each time it is asked for
        if key == AUTO:
            advice = "it stands for the dialect that is found in a text, so only parsing takes it: name a dialect"
            raise UnknownDialectError("dialect", name, advice=advice)
        if other := self._elsewhere(name):
            raise UnknownDialectError("dialect", name, advice=other)
        raise _unknown("dialect", name, self._dialects)

    def provider(self, name: str) -> Provider:
        """Look up a provider; raises `UnknownDialectError` with similar names."""
        key = _spelling(name, "provider")
        if key in self._providers:
            return self._providers[key]
        if key in self._dialects:
            raise UnknownDialectError("provider", name, advice=f"it is a dialect: give dialect={name!r}")
        if written := family(key, self.models):
            advice = f"it is a family of models, which write {' or '.join(written)}: give model= the model's id"
            raise UnknownDialectError("provider", name, advice=advice)
        raise _unknown("provider", name, self._providers)

    @checked
    def resolve(
        self,
        *,
        dialect: str | AnyDialect | None = None,
        provider: str | None = None,
        model: str | None = None,
        use_xml: bool = False,
    ) -> AnyDialect:
        """Choose a dialect by name, provider or model.

        `dialect` overrides everything; then come `use_xml`, the provider with its exceptions by model, and the model's
        id alone. Without any of them, it is the default JSON. An unknown name raises `UnknownDialectError` with
        similar names, and `use_xml` with another dialect raises ValueError.
        """
        if provider is not None:
            self.provider(provider)  # a misspelt one is reported where something else decides, too
        if dialect is not None:
            chosen = self.dialect(dialect)
            if use_xml and chosen is not self.dialect(XML_DIALECT):
                raise ValueError(
                    f"use_xml=True means the dialect {XML_DIALECT!r}, but dialect={chosen.name!r} was given: "
                    "leave one of the two out"
                )
            return chosen
        return self.dialect(XML_DIALECT if use_xml else self._name_for(provider, model))

    def _name_for(self, provider: str | None, model: str | None) -> str:
        row = None if provider is None else self.provider(provider)
        if model is not None:
            if not _spelling(model, "model"):
                raise UnknownDialectError("model", model, advice="the model's id is empty: give None for no choice")
            patterns = self.models if row is None else (*row.models, *self.models)
            found = match_model(model, patterns)
            if found is not None:
                return found
            if provider is None:
                read = " and ".join(map(repr, model_names(model)[:_TOLD]))
                tried = f"tried as {read} against {len(patterns)} patterns"
                near = respelt(model, patterns)
                raise UnknownDialectError("model", model, near, advice=f"{tried}; give a provider or a dialect")
        return DEFAULT_DIALECT if row is None else row.dialect

    def _elsewhere(self, name: str) -> str:
        """Describe what a name is that is no dialect's, and what it would mean; "" if it is nothing."""
        if row := self._providers.get(_spelling(name)):
            return f"it is a provider: give provider={name!r}, which means {row.dialect!r}"
        if found := match_model(name, self.models):
            return f"it is a model: give model={name!r}, which means {found!r}"
        return ""

    @checked
    def formatter_pair(
        self,
        provider: str | None = None,
        *,
        dialect: str | AnyDialect | None = None,
        model: str | None = None,
        use_xml: bool = False,
        tool: str | None = None,
    ) -> FormatterPair:
        """Return the schema and example formatter of the chosen dialect, or the override for this tool."""
        chosen = self.resolve(dialect=dialect, provider=provider, model=model, use_xml=use_xml)
        override = None if tool is None else self.overrides.get((chosen.name, tool))
        return override or (chosen.schema, chosen.example)

    @checked
    def parser(
        self,
        provider: str | None = None,
        *,
        dialect: str | AnyDialect | None = None,
        model: str | None = None,
        use_xml: bool = False,
        options: ParserOptions | None = None,
    ) -> Parser[Any]:
        """Open a parser of the dialect that `resolve` chooses."""
        chosen = self.resolve(dialect=dialect, provider=provider, model=model, use_xml=use_xml)
        return chosen.open_parser(options or ParserOptions())

    @checked
    def override(self, dialect: str | AnyDialect, tool: str) -> FormatterPair | None:
        """Return the override for this tool in this dialect, or None."""
        return self.overrides.get((self.dialect(dialect).name, tool))

    @checked
    def with_dialect(self, dialect: AnyDialect) -> Registry:
        """Add a dialect; raises `DuplicateDialectError` if a name or alias is taken.

        A text dialect that cannot read its own call raises `DialectRecordError`.
        """
        added = replace(self, dialects=(*self.dialects, dialect))
        _proven(dialect)
        return added

    @checked
    def with_provider(self, provider: Provider) -> Registry:
        """Add a provider, or replace the one with its name; raises `DuplicateDialectError` if an alias is taken."""
        key = _spelling(provider.name)
        others = (row for row in self.providers if _spelling(row.name) != key)
        return replace(self, providers=(*others, provider))

    @checked
    def with_override(self, dialect: str | AnyDialect, tool: str, pair: FormatterPair) -> Registry:
        """Override the formatters of one tool in a dialect; the last override counts."""
        return replace(self, overrides={**self.overrides, (self.dialect(dialect).name, tool): pair})


_PROVEN: Final = WeakValueDictionary[int, AnyDialect]()
"""Dialects made elsewhere that have read what they write, by identity: comparing records takes longer than parsing."""


def _proven(dialect: AnyDialect) -> AnyDialect:
    if _PROVEN.get(id(dialect)) is not dialect:
        if dialect.syntax is not None:
            from toolfmt.lookup.proving import check_reading  # the package's own dialects need none

            check_reading(dialect)
        _PROVEN[id(dialect)] = dialect
    return dialect


def is_auto(dialect: object) -> bool:
    """Whether the dialect is to be found from the text."""
    return isinstance(dialect, str) and _spelling(dialect) == AUTO


def _spelling(name: str, kind: str = "name", or_what: str = "") -> str:
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(f"a {kind} is given by name, a str{or_what}, not {type(name).__name__}")
    return name.strip().lower().replace("_", "-")


def _unknown(kind: str, name: str, index: Mapping[str, _Named]) -> UnknownDialectError:
    """Suggest names, never aliases: what is suggested is what the lists show."""
    close = close_names(name.replace("_", "-"), {spelling: entry.name for spelling, entry in index.items()})
    return UnknownDialectError(kind, name, close, advice=f"`toolfmt {kind}s` lists all")


def _by_name(kind: str, entries: Iterable[NamedT]) -> dict[str, NamedT]:
    index: dict[str, NamedT] = {}
    for entry in entries:
        # An alias may be another spelling of the name itself.
        for name in dict.fromkeys(map(_spelling, (entry.name, *entry.aliases))):
            if name == AUTO:
                raise DuplicateDialectError(
                    f"{name!r} means detection: choose another name for the {kind} {entry.name!r}"
                )
            if name in index:
                raise DuplicateDialectError(
                    f"a {kind} named {name!r} is already registered: choose another name for {entry.name!r}"
                )
            index[name] = entry
    return index


class _Default:
    """The process's registry: made when first asked for, exchanged under a lock."""

    def __init__(self) -> None:
        # Reentrant: a dialect's module that asks for the registry gets an error, it does not hang.
        self._lock = RLock()
        self.registry: Registry | None = None
        self.own: Registry | None = None
        """The package's own dialects: all that most programs need, and found without a search of all packages."""
        self._building = False

    def exchange(self, change: Callable[[Registry], Registry]) -> Registry:
        with self._lock:
            if self.registry is None:
                own = self.build_own()
                self.registry = self._built(lambda: _with_plugins(own))
            self.registry = change(self.registry)
            return self.registry

    def build_own(self) -> Registry:
        with self._lock:
            if self.own is None:
                self.own = self._built(lambda: Registry(dialects=tuple(package_dialects("toolfmt.dialects"))))
            return self.own

    def _built(self, build: Callable[[], Registry]) -> Registry:
        if self._building:
            raise RuntimeError("the default registry was asked for while it imports the dialects: ask later")
        self._building = True
        try:
            return build()
        finally:
            self._building = False


_default = _Default()


def default_registry() -> Registry:
    """Return the process's registry: the dialects of this package, of other packages, and those registered since.

    The first call imports all of them. A dialect of another package that fails to load is in `broken`.
    """
    return _default.registry or _default.exchange(lambda registry: registry)


def built_registry() -> Registry | None:
    """Return the default registry, or None as long as nothing has needed the dialects of other packages."""
    return _default.registry


def registry_for(dialect: object) -> Registry:
    """Return the default registry, or its part that has this choice and, for None, every provider and model.

    The part is the package's own dialects, until another one is asked for.
    """
    if _default.registry is not None:
        return _default.registry
    own = _default.own or _default.build_own()
    if isinstance(dialect, Dialect):
        known = any(one is dialect for one in own.dialects)
    else:
        known = dialect is None or (isinstance(dialect, str) and dialect in own)
    return own if known else default_registry()


@checked
def register(dialect: AnyDialect) -> Registry:
    """Add a dialect for the whole process and return the new default registry.

    Registries that were returned before do not change. Raises `DuplicateDialectError` if a name or alias is taken.
    """
    return _default.exchange(lambda registry: registry.with_dialect(dialect))


def register_override(dialect: str | AnyDialect, tool: str, pair: FormatterPair) -> Registry:
    """Write one tool of a dialect with another pair, for the whole process, and return the new default registry."""
    return _default.exchange(lambda registry: registry.with_override(dialect, tool, pair))


def _with_plugins(registry: Registry) -> Registry:
    """Add the dialects of other packages."""
    broken: dict[str, ToolFmtError] = {}
    for point in plugins():
        try:
            registry = registry.with_dialect(plugin_dialect(point))
        except (BrokenDialectError, DialectRecordError, DuplicateDialectError) as error:
            broken[_spelling(point.name)] = error
    return replace(registry, broken=broken)
