"""Check the arguments of public functions against their annotations.

    @checked
    def window(count: Positive, of: Compiler = all_sections) -> Compiler: ...

    window("3")  # TypeError: count= must be an int of at least 1, not '3'

Python would go on with a flag that is text, a text in place of a list, or a misspelt option of an open list. Parameters
whose annotation is imported for type checkers alone, or that says nothing, such as `object`, are not checked.
"""

from __future__ import annotations

import builtins
import collections.abc
import re
import sys
import typing
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from importlib import import_module
from inspect import getsource, isclass, iscoroutinefunction, signature
from itertools import chain, repeat
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

from toolfmt.errors import close_names, did_you_mean

MadeT = TypeVar("MadeT", bound=Callable[..., Any])


class AtLeast(NamedTuple):
    """The smallest number that a parameter takes."""

    least: float


Natural: TypeAlias = Annotated[int, AtLeast(0)]
Positive: TypeAlias = Annotated[int, AtLeast(1)]
Seconds: TypeAlias = Annotated[float, AtLeast(0)]


@overload
def checked(made: MadeT, /) -> MadeT: ...
@overload
def checked(**advice: str) -> Callable[[MadeT], MadeT]: ...
def checked(made: Any = None, /, **advice: str) -> Any:
    """Make a function, or a class, check its arguments when it is called; raises TypeError or ValueError.

    The `advice` on a parameter is added to messages about it.
    """
    if made is None:
        return partial(_checked, advice=advice)
    return _checked(made, {})


def check_text(text: object, what: str = "a piece of an answer") -> None:
    """Raise TypeError for what is not the text of an answer, and say how to read it."""
    if isinstance(text, str):
        return
    kind, advice = type(text).__name__, ""
    if isinstance(text, bytes):
        advice = ": decode bytes first"
    elif isinstance(text, dict | list) or hasattr(text, "model_dump"):
        advice = ": toolfmt.read_answer reads the answer objects of APIs"
    elif text is None:
        advice = ": a message without content has its calls beside it; give the whole response to toolfmt.read_answer"
    raise TypeError(f"{what} is a str, not {kind}{advice}")


def _checked(made: Any, advice: Mapping[str, str]) -> Any:
    if isclass(made):
        made.__init__ = _checked(made.__init__, advice)
        return made
    if iscoroutinefunction(made):

        @wraps(made)
        async def awaited(*values: Any, **options: Any) -> Any:
            _check(made, values, options, advice)
            return await made(*values, **options)

        return awaited

    @wraps(made)
    def called(*values: Any, **options: Any) -> Any:
        _check(made, values, options, advice)
        return made(*values, **options)

    return called


def _check(
    function: Callable[..., object],
    values: Iterable[object],
    options: Mapping[str, object],
    advice: Mapping[str, str],
) -> None:
    """Raise TypeError or ValueError for arguments that a function does not take."""
    taken = _parameters(function)
    given = [
        (*one, value) for one, value in zip(chain(taken.by_place.items(), repeat(taken.rest)), values, strict=False)
    ]
    for name, value in options.items():
        if name in taken.by_name:
            given.append((name, taken.by_name[name], value))
        elif not taken.anything:
            known = sorted(name for name in taken.by_name if name != "self")
            hint = did_you_mean(close_names(name, {one: one for one in known})) or f"there are {', '.join(known)}"
            raise TypeError(f"there is no option {name!r}; {hint}")
    for name, kind, value in given:
        problem = kind.problem(value, f"{name}=")
        if problem is not None:
            raise type(problem)(f"{problem}; {advice[name]}") if name in advice else problem


@dataclass(frozen=True, slots=True)
class _Kind:
    """The values that a parameter takes."""

    words: str
    takes: Callable[[Any], bool]
    item: _Kind | None = None
    """The values in a list or dict."""
    any_of: tuple[_Kind, ...] = ()
    typed: Callable[[Any], bool] = lambda _: False
    """Whether a value that is not taken has the right type."""

    def problem(self, value: object, place: str) -> Exception | None:
        """Return the error for a value that is not taken."""
        if self.any_of:
            problems = [kind.problem(value, place) for kind in self.any_of if kind.takes(value)]
            if problems:
                return None if None in problems else problems[0]
        elif self.takes(value):
            problems = (self.item.problem(*one) for one in _items(value, place)) if self.item is not None else ()
            return next((one for one in problems if one is not None), None)
        error = ValueError if any(kind.typed(value) for kind in (*self.any_of, self)) else TypeError
        return error(f"{place} must be {self.words}, not {_shown(value)}{self._advice(value)}")

    def _advice(self, value: object) -> str:
        if isinstance(value, Awaitable):
            return ": await it first"
        lists = [kind.item for kind in (*self.any_of, self) if kind.item is not None and kind.words != "a dict"]
        if any(item.problem(value, "") is None for item in lists):
            return ": put brackets around it"
        if isinstance(value, bytes) and "a str" in self.words:
            return ": decode bytes first"
        if isclass(value) and value.__name__ in self.words:
            return f": make one with {value.__name__}(...)"
        return ": it is asynchronous" if isinstance(value, AsyncIterable) else ""


def _items(value: object, place: str) -> Iterator[tuple[object, str]]:
    """Yield what a list or dict holds, with its place; nothing of a value that can be read only once."""
    place = place.removesuffix("=")
    if isinstance(value, Mapping):
        yield from ((one, f"{place}[{name!r}]") for name, one in cast("Mapping[Any, Any]", value).items())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((one, f"{place}[{at}]") for at, one in enumerate(cast("Iterable[Any]", value)))


def _shown(value: object) -> str:
    if value is None or isinstance(value, str | int | float):
        return f"{value!r:.60}"
    return f"the class {value.__name__}" if isclass(value) else type(value).__name__


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


_ANYTHING: Final = _Kind("anything", lambda _: True)
_TYPES: Final[dict[Any, _Kind]] = {
    NoneType: _Kind("None", lambda value: value is None),
    bool: _Kind("True or False", lambda value: isinstance(value, bool)),
    int: _Kind("an int", lambda value: _number(value, Integral)),
    float: _Kind("a number", lambda value: _number(value, Real)),
    type: _Kind("a class", isclass),
    Callable: _Kind("a function", callable),
}
_HOLDERS: Final[dict[Any, str]] = {
    Iterable: "an iterable",
    Collection: "a list",
    Sequence: "a list",
    Mapping: "a dict",
    AsyncIterable: "an asynchronous iterable",
}


_IMPORT: Final = re.compile(r"^ *(?:from (?P<module>[\w.]+) )?import (?P<names>\([^)]*\)|[^#\n]*)", re.MULTILINE)


class _Unknown:
    """A type that cannot be imported, because it needs an extra."""

    def __class_getitem__(cls, _: object) -> type[_Unknown]:
        """Take any parameters."""
        return cls


_UNTOLD: Final = (object, Any, _Unknown)


class _Names(dict[str, Any]):
    """The names in annotations of a module."""

    def __init__(self, module: str) -> None:
        """Take the names of the module itself."""
        super().__init__(vars(import_module(module)))
        self._module = module

    def __getitem__(self, name: str) -> object:
        """Evaluate a quoted alias where it is written; import what is imported for type checkers alone."""
        found = next((names[name] for names in map(vars, (builtins, collections.abc)) if name in names), _Unknown)
        found = self.get(name, found)
        if found is not _Unknown and not isinstance(found, str):
            return found
        module, imported = _imports(self._module).get(name, ("", ""))
        try:
            if not module:
                return self.evaluated(found)
            return _Names(module)[imported] if imported else import_module(module)
        except ImportError:
            return _Unknown

    def evaluated(self, hint: Any) -> Any:
        """Evaluate an annotation."""
        while isinstance(hint, str):
            hint = eval(hint, {}, self)  # noqa: S307 - an annotation of this package
        return hint


@cache
def _imports(module: str) -> dict[str, tuple[str, str]]:
    """Return where the imported names of a module come from: a module, and a name in it or ""."""
    found: dict[str, tuple[str, str]] = {}
    for one in _IMPORT.finditer(getsource(sys.modules[module])):
        for name in re.findall(r"\w+(?: as \w+)?", one["names"]):
            imported, _, known = name.partition(" as ")
            found[known or imported] = (one["module"], imported) if one["module"] else (imported, "")
    return found


class _Parameters(NamedTuple):
    by_place: Mapping[str, _Kind]
    by_name: Mapping[str, _Kind]
    rest: tuple[str, _Kind]
    """The further parameters by place."""
    anything: bool
    """Whether a function takes options of any name."""


@cache
def _parameters(function: Callable[..., object]) -> _Parameters:
    """Read the annotations of a function."""
    made = cast("Any", function)
    names = _Names(made.__module__)
    by_place: dict[str, _Kind] = {}
    by_name: dict[str, _Kind] = {}
    anything, rest = False, ("", _ANYTHING)
    for one in signature(made).parameters.values():
        hint = names.evaluated(object if one.annotation is one.empty else one.annotation)
        if one.kind is one.VAR_KEYWORD:
            table = get_args(hint)[0] if get_origin(hint) is typing.Unpack else _Unknown
            by_name |= _options(table)
            anything = table is _Unknown
        elif one.kind is one.VAR_POSITIONAL:
            rest = (one.name, _kind(hint))
        else:
            by_place |= {} if one.kind is one.KEYWORD_ONLY else {one.name: _kind(hint)}
            by_name |= {} if one.kind is one.POSITIONAL_ONLY else {one.name: _kind(hint)}
    return _Parameters(by_place, by_name, rest, anything)


def _options(table: Any) -> dict[str, _Kind]:
    """Read the annotations of a TypedDict and of those that it extends."""
    found: dict[str, _Kind] = {}
    for base in getattr(table, "__orig_bases__", ()):
        found |= {} if base is typing.TypedDict else _options(base)
    names = _Names(table.__module__)
    for name, hint in table.__annotations__.items():
        found.setdefault(name, _kind(names.evaluated(getattr(hint, "__forward_arg__", hint))))
    return found


def _kind(hint: Any) -> _Kind:
    """Describe the values of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    base = origin or hint
    match base:
        case _ if origin is Annotated:
            kind, least = _kind(inner[0]), inner[1].least
            words = f"{kind.words} of at least {least}"
            return _Kind(words, lambda value: kind.takes(value) and value >= least, typed=kind.takes)
        case _ if origin is Literal:
            types = {*map(type, inner)}
            return _Kind(
                _either(map(repr, inner)),
                lambda value: type(value) in types and value in inner,
                typed=lambda value: type(value) in types,
            )
        case _ if origin in (Union, UnionType):
            return _any_of([_kind(one) for one in inner])
        case _ if base in _TYPES:
            return _TYPES[base]
        case type() if base not in _UNTOLD:
            return _Kind(_HOLDERS.get(base) or _words(base), _test(base), _item(base, inner))
        case _:
            return _ANYTHING


def _any_of(kinds: list[_Kind]) -> _Kind:
    if _ANYTHING in kinds:
        return _ANYTHING
    words = _either(kind.words for kind in kinds)
    return _Kind(words, lambda value: any(kind.takes(value) for kind in kinds), any_of=tuple(kinds))


def _either(words: Iterable[str]) -> str:
    *others, last = dict.fromkeys(words)
    return f"{', '.join(others)} or {last}" if others else last


def _item(base: Any, inner: Sequence[Any]) -> _Kind | None:
    """Describe what a list or dict of a type holds."""
    if not inner or (base is tuple and inner[1:] != (...,)) or not issubclass(base, Collection | Iterable):
        return None
    kind = _kind(inner[1] if issubclass(base, Mapping) else inner[0])
    return None if kind is _ANYTHING else kind


def _members(base: Any) -> list[str]:
    """Return the public names of a protocol."""
    own: list[Any] = [one for one in base.__mro__ if getattr(one, "_is_protocol", False) and one is not typing.Protocol]
    return sorted({name for one in own for name in dir(one) if not name.startswith("_")})


def _words(base: Any) -> str:
    if getattr(base, "_is_protocol", False):
        return f"{_a(base.__name__)} with {', '.join(map(repr, _members(base)))}" if _members(base) else "a function"
    return _a(base.__name__)


def _test(base: type[Any]) -> Callable[[Any], bool]:
    if getattr(base, "_is_protocol", False):
        names = _members(base)
        if not names:
            return callable
        return lambda value: all(hasattr(cast("object", type(value)), name) or hasattr(value, name) for name in names)
    if base in _HOLDERS:
        other = (str, bytes, bytearray) if issubclass(base, Mapping) else (str, bytes, bytearray, Mapping)
        return lambda value: isinstance(value, base) and not isinstance(value, other)
    return lambda value: isinstance(value, base)
