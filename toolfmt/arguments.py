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
import errno
import os
import sys
import typing
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from inspect import isclass, iscoroutinefunction, signature
from itertools import chain, repeat
from math import inf
from numbers import Integral, Real
from pathlib import Path
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

from toolfmt.errors import close_names, did_you_mean, shown, some

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
    elif hasattr(text, "read"):
        advice = ": read the file first"
    elif hasattr(text, "__next__") or hasattr(text, "__aiter__"):
        advice = ": toolfmt.parse_stream reads a stream of pieces"
    elif text is None:
        advice = ": a message without content has its calls beside it; give the whole response to toolfmt.read_answer"
    raise TypeError(f"{what} is a str, not {kind}{advice}")


def path_of(name: str | os.PathLike[str]) -> Path:
    """Return a path; raises OSError also for one that no file can have, for which Python has other errors."""
    try:
        if b"\0" not in os.fsencode(name):
            return Path(name)
    except UnicodeEncodeError:
        pass
    raise OSError(errno.EINVAL, "no file can have this name", os.fspath(name))


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
    function: Callable[..., object], values: Iterable[object], options: Mapping[str, object], advice: Mapping[str, str]
) -> None:
    """Raise TypeError or ValueError for arguments that a function does not take."""
    taken = _parameters(function)
    if taken.rest is None:
        values = [*values]
        check_places(function, values, taken)
    places = chain(taken.by_place.items(), repeat(taken.rest or ("", _ANYTHING)))
    given = [(*place, value) for place, value in zip(places, values, strict=False)]
    for name, value in options.items():
        if name in taken.by_name:
            given.append((name, taken.by_name[name], value))
        elif not taken.anything:
            known = sorted(name for name in taken.by_name if name != "self")
            near = did_you_mean(close_names(name, {one: one for one in known})) or f"there are {', '.join(known)}"
            hint = advice.get(name, near)
            raise TypeError(f"there is no option {name!r}; {hint}")
    for name, kind, value in given:
        problem = kind.problem(value, f"{name}=")
        if problem is not None:
            raise type(problem)(f"{problem}; {advice[name]}") if name in advice else problem


def by_name(function: MadeT) -> MadeT:
    """Say which arguments are given by name, if too many are given by position; nothing else is checked."""
    count = len(_parameters(function).by_place)

    @wraps(function)
    def called(*values: Any, **options: Any) -> Any:
        if len(values) > count:
            check_places(function, values, _parameters(function))
        return function(*values, **options)

    return cast("MadeT", called)


def check_places(function: Callable[..., object], values: Sequence[object], taken: _Parameters) -> None:
    """Raise TypeError for more arguments by position than a function takes."""
    count, made = len(taken.by_place), cast("Any", function)
    if len(values) <= count:
        return
    own = int(next(iter(taken.by_place), "") == "self")
    names = [f"{name}=" for name in taken.by_name if name not in taken.by_place]
    by = f"; give {_shown(values[count])} by name: {some(names)}" if names else ""
    called = made.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    raise TypeError(f"{called}() takes {count - own} by position, not {len(values) - own}{by}")


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
        if isclass(value) and (value.__name__ in self.words or " with '" in self.words):
            return f": make one with {value.__name__}(...)"
        return ": it is asynchronous" if isinstance(value, AsyncIterable) else ""


def _items(value: object, place: str) -> Iterator[tuple[object, str]]:
    """Yield what a list or dict holds, with its place; nothing of a value that can be read only once."""
    place = place.removesuffix("=")
    if isinstance(value, Mapping):
        yield from ((one, f"{place}[{shown(name)}]") for name, one in cast("Mapping[Any, Any]", value).items())
    elif isinstance(value, Collection):
        yield from ((one, f"{place}[{at}]") for at, one in enumerate(cast("Collection[Any]", value)))


def _shown(value: object) -> str:
    if value is None or isinstance(value, str | int | float):
        return shown(value)
    if (key := _odd_key(value)) is not None:
        return f"{type(value).__name__} with the key {key}"
    return f"the class {value.__name__}" if isclass(value) else type(value).__name__


def _odd_key(value: object) -> str | None:
    """Show a dict's first key that is no text."""
    keys = cast("Mapping[object, object]", value) if isinstance(value, Mapping) else ()
    return next((shown(key) for key in keys if not isinstance(key, str)), None)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _number(value: Any, kind: type) -> bool:
    """Whether a value is a number that the system's own numbers hold: time-outs and places are such."""
    return isinstance(value, kind) and not isinstance(value, bool) and (abs(value) <= sys.maxsize or abs(value) == inf)


_ANYTHING: Final = _Kind("anything", lambda _: True)
_TYPES: Final[dict[Any, _Kind]] = {
    NoneType: _Kind("None", lambda value: value is None),
    bool: _Kind("True or False", lambda value: isinstance(value, bool)),
    int: _Kind("an int", lambda value: _number(value, Integral), typed=lambda value: type(value) is int),
    float: _Kind("a number", lambda value: _number(value, Real), typed=lambda value: type(value) in (int, float)),
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


class _Names(dict[str, Any]):
    """The names that a module has for its annotations."""

    def __getitem__(self, name: str) -> object:
        """Evaluate a quoted alias; a name that only type checkers know may be anything."""
        places = (self, vars(builtins), vars(collections.abc))
        return self.evaluated(next((names.get(name) for names in places if name in names), Any))

    def evaluated(self, hint: Any) -> Any:
        """Evaluate an annotation; one that cannot be evaluated says nothing."""
        try:
            while isinstance(hint, str):
                hint = eval(hint, {}, self)  # noqa: S307 - an annotation of this package
        except (AttributeError, NameError, TypeError):
            return object
        return hint


class _Parameters(NamedTuple):
    by_place: Mapping[str, _Kind]
    by_name: Mapping[str, _Kind]
    rest: tuple[str, _Kind] | None
    """The further parameters by place, if it takes any."""
    anything: bool
    """Whether a function takes options of any name."""


@cache
def _parameters(function: Callable[..., object]) -> _Parameters:
    """Read the annotations of a function."""
    made = cast("Any", function)
    names = _Names(made.__globals__)
    by_place: dict[str, _Kind] = {}
    by_name: dict[str, _Kind] = {}
    anything, rest = False, None
    for one in signature(made).parameters.values():
        hint = names.evaluated(object if one.annotation is one.empty else one.annotation)
        if one.kind is one.VAR_KEYWORD:
            anything = get_origin(hint) is not typing.Unpack
            by_name |= {} if anything else _options(get_args(hint)[0])
        elif one.kind is one.VAR_POSITIONAL:
            rest = (one.name, _kind(hint))
        else:
            by_place |= {} if one.kind is one.KEYWORD_ONLY else {one.name: _kind(hint)}
            by_name |= {} if one.kind is one.POSITIONAL_ONLY else {one.name: _kind(hint)}
    return _Parameters(by_place, by_name, rest, anything)


def _options(table: Any) -> dict[str, _Kind]:
    """Read the annotations of a TypedDict, each with the names of the module that declares it."""
    hints: Mapping[str, Any] = table.__annotations__
    return {
        name: _kind(_Names(vars(sys.modules[hint.__forward_module__])).evaluated(hint.__forward_arg__))
        for name, hint in hints.items()
    }


def _kind(hint: Any) -> _Kind:
    """Describe the values of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    base = origin or hint
    match base:
        case _ if origin is Annotated:
            kind, least = _kind(inner[0]), inner[1].least
            words = f"{kind.words} of at least {least}"
            return _Kind(
                words,
                lambda value: kind.takes(value) and value >= least,
                typed=lambda value: kind.takes(value) or kind.typed(value),
            )
        case _ if origin is Literal:
            types = {*map(type, inner)}
            return _Kind(
                _either(map(repr, inner)),
                lambda value: type(value) in types and value in inner,
                typed=lambda value: type(value) in types,
            )
        case _ if origin in (Union, UnionType):
            # `typing` may return an equal union with its members in another order
            return _any_of(sorted(map(_kind, inner), key=lambda kind: (kind.words == "None", kind.words.split()[-1])))
        case _ if base in _TYPES:
            return _TYPES[base]
        case type() if base not in (object, Any):
            return _Kind(_HOLDERS.get(base) or _words(base), _test(base, inner), _item(base, inner))
        case _:
            return _ANYTHING


def _any_of(kinds: list[_Kind]) -> _Kind:
    if _ANYTHING in kinds:
        return _ANYTHING
    words = _either(part for kind in kinds for part in kind.words.split(" or "))
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
    return [name for name in dir(base) if not name.startswith("_")]


def _words(base: Any) -> str:
    if not getattr(base, "_is_protocol", False):
        return _a(base.__name__)
    return f"{_a(base.__name__)} with {', '.join(map(repr, _members(base)))}" if _members(base) else "a function"


def _test(base: Any, inner: Sequence[Any]) -> Callable[[Any], bool]:
    if base is Mapping and inner[:1] == (str,):
        return lambda value: isinstance(value, Mapping) and _odd_key(cast("object", value)) is None
    if base in _HOLDERS:
        texts = (str, bytes, bytearray) if issubclass(base, Mapping) else (str, bytes, bytearray, Mapping)
        return lambda value: isinstance(value, base) and not isinstance(value, texts)
    if not getattr(base, "_is_protocol", False):
        return lambda value: isinstance(value, base)
    names = _members(base)
    if not names:
        return callable
    return lambda value: (
        not isclass(value) and all(hasattr(cast("object", type(value)), name) or hasattr(value, name) for name in names)
    )
