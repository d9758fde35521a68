"""Renders a chat template as transformers does, without trust in it.

    render("{% for m in messages %}{{ m.content }}{% endfor %}", {"messages": [{"content": "Hi"}]})  # 'Hi'

A template sees plain data and what transformers offers: Jinja's own filters,
tests and functions, `tojson` without HTML escapes, `raise_exception`,
`strftime_now` (if `now` is given), `{% generation %}`, `{% break %}` and
`{% continue %}`. It cannot change what it is given, reach Python's internals,
load files, run without end or write without measure. Two of Jinja's names are
refused, `lipsum` and the filter `random`: a prompt depends on its arguments alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, pass_context

from toolfmt.chat_templates import metered as names
from toolfmt.chat_templates.metering import TEXT, Meter, Stopped
from toolfmt.errors import TemplateError, TemplateRefusedError
from toolfmt.templating import line_of

if TYPE_CHECKING:
    from types import CodeType

    from jinja2.parser import Parser
    from jinja2.runtime import Context

    from toolfmt.model import JsonValue

STILL: Final = datetime(2025, 1, 1, tzinfo=UTC)
"""The time of renderings of which only the form matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateLimits:
    """How much a template may do; what goes beyond raises `TemplateError`.

    A long conversation needs more: each character that the template is given adds
    8 steps, 512 characters of text and 16 of the prompt.
    """

    steps: int = 5_000_000
    """Operations: some seconds of work, the same on every machine."""
    text: int = 64 * 1024 * 1024
    """Characters of text that are made on the way, in all."""
    output: int = 16 * 1024 * 1024
    """Characters of the rendered prompt."""
    source: int = 1024 * 1024
    """Characters of the template."""


SMALL: Final = TemplateLimits(steps=50_000, text=4_000_000, output=500_000)
"""For a conversation of a few lines: real templates take up to 15 000 steps for one."""


def render(
    source: str,
    variables: Mapping[str, JsonValue],
    *,
    now: datetime | None = None,
    limits: TemplateLimits | None = None,
) -> str:
    """Render a chat template with plain data.

    `now` is the time that `strftime_now` writes; without it there is no such
    function: a template that has a date for that case writes it, and others
    raise. Raises `TemplateError` with the line, and `TemplateRefusedError` with
    the template's words where it refuses the conversation.
    """
    allowed = limits or TemplateLimits()
    if len(source) > allowed.source:
        raise TemplateError(f"the chat template has {len(source)} characters; {allowed.source} are read")
    try:
        code = _compiled(source)
        given = Meter(_ANY, _ANY).deep(variables)
        meter = Meter(allowed.steps + 8 * given, allowed.text + 512 * given)
        return _run(_Sandbox(meter, now), code, dict(variables), allowed.output + 16 * given)
    except _Refusal as error:
        raise TemplateRefusedError(str(error), line=line_of(error)) from None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"the chat template, line {error.lineno}: {error.message}") from None
    except RecursionError as error:
        raise TemplateError(f"{_place(error)}: it goes too deep: a macro or value inside itself without end") from None
    except _FAILURES as error:
        raise TemplateError(f"{_place(error)}: {_words(error)}") from None


_ANY: Final = 2**63
_FAILURES: Final = (
    *(jinja2.TemplateError, Stopped, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(MemoryError, RuntimeError, StopIteration, SyntaxError, TypeError, ValueError),
)
"""What a template can make Jinja and Python raise."""


_UNDEFINED: Final = re.compile(r"'(\w+)' is undefined")


class _Refusal(jinja2.TemplateError):
    """What `raise_exception` raises."""


def _place(error: BaseException) -> str:
    line = line_of(error)
    return "the chat template" + (f", line {line}" if line else "")


def _words(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    missing = _UNDEFINED.fullmatch(text)
    if missing is None:
        return text
    if missing[1] == "strftime_now":
        return "it writes the date: give now= (a datetime)"
    return f"it needs {missing[1]!r}: give it in variables=, or the model's folder where it is a special token"


def _run(sandbox: _Sandbox, code: CodeType, variables: dict[str, Any], limit: int) -> str:
    template = jinja2.Template.from_code(sandbox, code, sandbox.make_globals(None))
    written: list[str] = []
    size = 0
    for piece in template.generate(variables):
        size += len(piece)
        sandbox.meter.work(len(piece) // TEXT)
        if size > limit:
            raise Stopped(f"it writes more than {limit} characters")
        written.append(piece)
    return "".join(written)


@lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return _Sandbox(Meter(0, 0), None).compile(source)


class _Generation(Extension):
    """`{% generation %}...{% endgeneration %}` marks what the assistant wrote; it changes nothing in the text."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("written"), [], [], body).set_lineno(line)

    @staticmethod
    def written(caller: Callable[[], str]) -> str:
        return caller()


class _Sandbox(ImmutableSandboxedEnvironment):
    """What one rendering runs in; it belongs to that one alone, with its meter."""

    intercepted_binops = frozenset({"+", "-", "*", "**", "%"})

    def __init__(self, meter: Meter, now: datetime | None) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            optimized=False,  # else what is constant is worked out before it is counted
            finalize=_written,
            cache_size=0,
        )
        self.meter = meter
        functions = cast("dict[str, object]", self.globals)
        functions.update(raise_exception=_refuse, dict=_Dict(), namespace=_Namespace, lipsum=_no_chance)
        if now is not None:
            functions["strftime_now"] = now.strftime
        filters = cast("dict[str, Callable[..., Any]]", self.filters)
        filters.update(tojson=_tojson, random=_no_chance)
        filters.update({name: self._metered(name, filters[name]) for name in filters})
        tests = cast("dict[str, Callable[..., Any]]", self.tests)
        tests.update({name: self._metered(name, tests[name]) for name in _COMPARING})
        filters.update(
            {
                names.TURN: meter.work,
                names.WEIGHED: self._weighed,
                names.SEARCHED: self._searched,
                names.MADE: self._made,
                names.JOINED: self._joined,
            }
        )

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return names.metered(super()._parse(source, name, filename))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as Jinja
        method = getattr(__obj, "__wrapped__", __obj)
        owner = getattr(method, "__self__", None)
        if isinstance(__obj, Macro | LoopContext | type):
            __self.meter.work(1 + len(args) + len(kwargs))
        else:
            __self.meter.call(getattr(method, "__name__", ""), owner, args, kwargs)
        return __self._made(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self.meter.operator(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if type(argument) is not str:
            self.meter.deep(argument)
        return super().getitem(obj, argument)

    def _metered(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        at = 1 if hasattr(function, "jinja_pass_arg") else 0

        @wraps(function)  # Jinja's mark of a function that takes the context goes along
        def counted(*given: Any, **named: Any) -> Any:
            self.meter.call(name, given[at] if len(given) > at else None, given[at + 1 :], named)
            return self._made(function(*given, **named))

        return counted

    def _weighed(self, value: Any) -> Any:
        self.meter.deep(value)
        return value

    def _searched(self, value: Any) -> Any:
        """Count a value in which something is looked for; a key is found at once."""
        if not isinstance(value, dict):
            self.meter.deep(value)
        return cast("Any", value)

    def _made(self, value: Any) -> Any:
        self.meter.made(value)
        return value

    def _joined(self, values: list[Any]) -> str:
        self.meter.make(self.meter.deep(values))
        return "".join(map(str, values))


_COMPARING: Final = (
    *("eq", "==", "equalto", "ne", "!=", "lt", "<", "lessthan", "le", "<=", "gt", ">", "greaterthan", "ge", ">="),
    *("in", "lower", "upper"),
)
"""The tests whose cost depends on how large their values are."""


@pass_context  # so that Jinja does not work it out while it compiles
def _written(context: Context, value: Any) -> Any:
    meter = cast("_Sandbox", context.environment).meter
    meter.make(meter.deep(value))
    return value


def _refuse(message: object = "") -> None:
    raise _Refusal(str(message))


def _no_chance(*_: object, **__: object) -> None:
    raise jinja2.TemplateRuntimeError("it asks for chance, and a prompt depends on its arguments alone")


def _tojson(  # the parameters as transformers has them, so that they may be given by place
    x: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class _Dict:
    """`dict` without the attributes of a type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


class _Namespace(Namespace):
    """`namespace` that holds no names of Python's own, and does not write out what it holds."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # so that `namespace(self=...)` is possible
        self, given = args[0], dict(*args[1:], **kwargs)
        for name in given:
            _own_name(name)
        Namespace.__init__(self, given)

    def __setitem__(self, name: str, value: Any) -> None:
        _own_name(name)
        super().__setitem__(name, value)

    def __repr__(self) -> str:
        return "<Namespace>"


def _own_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace holds no name that begins with an underscore: {name!r}")
