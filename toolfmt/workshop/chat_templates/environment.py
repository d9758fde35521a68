"""The environment of chat templates: Jinja's immutable sandbox with transformers' additions, each operation counted.

    Sandbox(Meter(steps=1000, text=10_000), now=None).from_string("{{ messages | tojson }}")

The functions and filters are those of `transformers/utils/chat_template_utils.py`. Jinja passes calls, filters, tests
and most operators to its environment, which counts them. Loops, macros, `~`, comparisons, slices and keys are compiled
to plain Python, so counting is added to the parsed template, under names that no template can write:

    {% for m in messages %}{{ m.a ~ m.b }}{% endfor %}
    ->  {% for m in messages %}{% do 9|(turn) %}{{ [m.a, m.b]|(joined) }}{% endfor %}
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, cast

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, pass_context
from jinja2.visitor import NodeTransformer

from toolfmt.workshop.chat_templates.metering import Meter

if TYPE_CHECKING:
    from jinja2.parser import Parser
    from jinja2.runtime import Context


_TURN: Final = "(turn)"
_WEIGHED: Final = "(weighed)"
_SEARCHED: Final = "(searched)"
_MADE: Final = "(made)"
_JOINED: Final = "(joined)"

_WRITTEN: Final = 16
"""Characters of the template's own text for one step."""
_SCALARS: Final = (str, int, float, bool, type(None))
_SEARCHES: Final = frozenset({"in", "notin"})


class Refusal(jinja2.TemplateError):
    """Raised by the template function `raise_exception`."""


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


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of one rendering, with its meter."""

    intercepted_binops = frozenset({"+", "-", "*", "**", "%"})

    def __init__(self, meter: Meter, now: datetime | None) -> None:
        """Count on `meter`; without `now` there is no `strftime_now`."""
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, loopcontrols],
            optimized=False,  # else constants are computed before they are counted
            finalize=_written,
            cache_size=0,
        )
        self.meter = meter
        functions = cast("dict[str, object]", self.globals)
        functions.update(raise_exception=_refuse, dict=_Dict(), namespace=_Namespace, lipsum=_refuse_random)
        if now is not None:
            functions["strftime_now"] = now.strftime
        filters = cast("dict[str, Callable[..., Any]]", self.filters)
        filters.update(tojson=_tojson, random=_refuse_random)
        filters.update({name: self._wrapped(name, filters[name]) for name in filters})
        tests = cast("dict[str, Callable[..., Any]]", self.tests)
        tests.update({name: self._wrapped(name, tests[name]) for name in _COMPARING})
        filters |= {_TURN: meter.work, _WEIGHED: self._weighed, _SEARCHED: self._searched}
        filters |= {_MADE: self._made, _JOINED: self._joined}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _metered(super()._parse(source, name, filename))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as Jinja
        """Count the cost of a call, then make it."""
        method = getattr(__obj, "__wrapped__", __obj)
        owner = getattr(method, "__self__", None)
        if isinstance(__obj, Macro | LoopContext | type):
            __self.meter.work(1 + len(args) + len(kwargs))
        else:
            __self.meter.call(getattr(method, "__name__", ""), owner, args, kwargs)
        return __self._made(super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Count the cost of an operator, then apply it."""
        self.meter.operator(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Count the cost of a key, then look it up."""
        if type(argument) is not str:
            self.meter.deep(argument)
        return super().getitem(obj, argument)

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
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
        """Count a value that is searched; in a mapping a key is found at once."""
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


@pass_context  # so that Jinja does not evaluate it at compile time
def _written(context: Context, value: Any) -> Any:
    meter = cast("Sandbox", context.environment).meter
    meter.make(meter.deep(value))
    return value


def _refuse(message: object = "") -> None:
    raise Refusal(str(message))


def _refuse_random(*_: object, **__: object) -> None:
    raise jinja2.TemplateRuntimeError("random values are not allowed: a prompt must depend only on its arguments")


@pass_context  # for the meter
def _tojson(  # noqa: PLR0913, PLR0917 - as transformers has them, so that they may be given by place
    context: Context,
    x: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    if indent is None:
        return encoder.encode(x)
    meter = cast("Sandbox", context.environment).meter
    pieces: list[str] = []
    for piece in encoder.iterencode(x):  # a line is indented as often as its value is deep
        meter.make(len(piece))
        pieces.append(piece)
    return "".join(pieces)


class _Dict:
    """`dict` without the attributes of a type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


class _Namespace(Namespace):
    """A `namespace` without Python's own names, and whose text does not show its values."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # so that `namespace(self=...)` is possible
        given = dict(*args[1:], **kwargs)
        for name in given:
            _own_name(name)
        Namespace.__init__(args[0], given)

    def __setitem__(self, name: str, value: Any) -> None:
        _own_name(name)
        super().__setitem__(name, value)

    def __repr__(self) -> str:
        return "<Namespace>"


def _own_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace holds no name that begins with an underscore: {name!r}")


def _metered(template: nodes.Template) -> nodes.Template:
    """Change a parsed template so that all its operations are counted."""
    for body in template.find_all((nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):
        assert isinstance(body, nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block)  # noqa: S101 - for the types
        turn = _filter(_TURN, nodes.Const(sum(map(_size, body.body))), body)
        if isinstance(body, nodes.For) and body.test is not None:
            body.test = _counted(_WEIGHED, cast("nodes.Expr", body.test))
        body.body.insert(0, nodes.ExprStmt(turn, lineno=body.lineno))
    return _Metering().visit(template)


def _size(node: nodes.Node) -> int:
    """Count the nodes that may cost a step, and the text that is written; a loop's body counts for itself."""
    if isinstance(node, nodes.TemplateData):
        return 1 + len(node.data) // _WRITTEN
    inner = 0 if isinstance(node, nodes.For | nodes.Macro) else sum(map(_size, node.iter_child_nodes()))
    return inner + isinstance(node, nodes.Stmt | nodes.Expr)


class _Metering(NodeTransformer):
    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - the visitor's names
        self.generic_visit(node)
        ends = [node.expr, *(operand.expr for operand in node.ops)]
        searches = any(operand.op in _SEARCHES for operand in node.ops)
        if not searches and any(map(_scalar, ends)):
            return node  # a comparison with a scalar ends at once
        node.expr = _counted(_WEIGHED, node.expr)
        for operand in node.ops:
            operand.expr = _counted(_SEARCHED if operand.op in _SEARCHES else _WEIGHED, operand.expr)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(_JOINED, nodes.List(node.nodes, lineno=node.lineno), node)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(_MADE, node, node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.key = _counted(_WEIGHED, node.key)
        return node


def _scalar(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, _SCALARS)


def _counted(name: str, node: nodes.Expr) -> nodes.Expr:
    return node if _scalar(node) and name == _WEIGHED else _filter(name, node, node)


def _filter(name: str, value: nodes.Expr, at: nodes.Node) -> nodes.Filter:
    arguments: tuple[Any, ...] = (value, name, [], [], None, None)
    return nodes.Filter(*arguments, lineno=at.lineno)
