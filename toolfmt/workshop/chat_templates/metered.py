"""Puts the counting into a template: at each turn of a loop, and around what Jinja works out by itself.

    {% for m in messages %}{{ m.a ~ m.b }}{% endfor %}
    ->  {% for m in messages %}{% do 9|(turn) %}{{ [m.a, m.b]|(joined) }}{% endfor %}

Jinja hands calls, filters, tests and most operators to its environment, which
counts them there. Loops, macros, `~`, comparisons, slices and keys it compiles to
plain Python, so they are changed in the parsed template. No template can write
the names in parentheses.
"""

from __future__ import annotations

from typing import Any, Final, cast

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

TURN: Final = "(turn)"
WEIGHED: Final = "(weighed)"
SEARCHED: Final = "(searched)"
MADE: Final = "(made)"
JOINED: Final = "(joined)"

_WRITTEN: Final = 16
"""How many characters of the template itself are written for one step."""
_SCALARS: Final = (str, int, float, bool, type(None))
_SEARCHES: Final = frozenset({"in", "notin"})


def metered(template: nodes.Template) -> nodes.Template:
    """Change a parsed template so that whatever it does is counted."""
    for body in template.find_all((nodes.For, nodes.Macro, nodes.CallBlock, nodes.Block)):
        assert isinstance(body, nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block)  # noqa: S101 - for the types
        turn = _filter(TURN, nodes.Const(sum(map(_size, body.body))), body)
        if isinstance(body, nodes.For) and body.test is not None:
            body.test = _counted(WEIGHED, cast("nodes.Expr", body.test))
        body.body.insert(0, nodes.ExprStmt(turn, lineno=body.lineno))
    return _Metering().visit(template)


def _size(node: nodes.Node) -> int:
    """Count the nodes of which each may cost a step, and the text that is written; a loop's body counts for itself."""
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
            return node  # ends at the first difference in type
        node.expr = _counted(WEIGHED, node.expr)
        for operand in node.ops:
            operand.expr = _counted(SEARCHED if operand.op in _SEARCHES else WEIGHED, operand.expr)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(JOINED, nodes.List(node.nodes, lineno=node.lineno), node)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(MADE, node, node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.key = _counted(WEIGHED, node.key)
        return node


def _scalar(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, _SCALARS)


def _counted(name: str, node: nodes.Expr) -> nodes.Expr:
    return node if _scalar(node) and name == WEIGHED else _filter(name, node, node)


def _filter(name: str, value: nodes.Expr, at: nodes.Node) -> nodes.Filter:
    arguments: tuple[Any, ...] = (value, name, [], [], None, None)
    return nodes.Filter(*arguments, lineno=at.lineno)
