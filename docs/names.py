"""The pages of the public names, read from the source: spelled as there, in the same words."""  # noqa: INP001 - beside the script that uses it

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeGuard

from blocks import fenced, table

import toolfmt

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(toolfmt.__file__).parent
PUBLIC: Final = frozenset(toolfmt.__all__)


class Page(NamedTuple):
    """A page of the Python interface."""

    path: str
    title: str
    root: tuple[str, ...] = ()
    """Modules and packages whose public names are imported from `toolfmt` itself."""
    places: tuple[str, ...] = ()
    """Modules and packages whose public names are imported from there."""


PAGES: Final = (
    Page("tools", "Tools and prompts", ("tools", "manifests", "rendering")),
    Page("calls", "Reading calls", ("parsing", "model", "events", "correcting", "detection"), ("events",)),
    Page("conversations", "Conversations", ("conversation", "transcripts"), ("conversation",)),
    Page("execution", "Running calls", places=("execution",)),
    Page("agents", "Agents", places=("agents", "agents.clients")),
    Page("mcp", "MCP", places=("mcp",)),
    Page("formats", "Dialects and providers", ("lookup", "dialect", "text"), ("lookup.settings", "ids")),
    Page(
        "records",
        "The records of a dialect",
        places=("dialect.record", "dialect.syntax", "dialect.frames", "dialect.literals"),
    ),
    Page("models", "Templates, grammars and servers", ("workshop",)),
    Page("errors", "Exceptions", ("errors",), ("errors",)),
)
UNSAID: Final = {"__post_init__", "__repr__", "__str__"}
"""Methods that need no words; others with two underscores say what an object can be used as."""
_CHECKED: Final = re.compile(r"\s*@_?checked\b")
_NOTE = re.compile(r" +# (?:noqa|type:|pyright:).*$", re.MULTILINE)

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.AnnAssign
"""What may stand under a public name."""


def interface_pages() -> dict[str, str]:
    """Make the pages of the Python interface: the public names, each with its signature and docstring."""
    index = ["# Python interface", "Each name, where to import it from, and the page that describes it."]
    for page in PAGES:
        # What a signature unpacks is described with it, and is no name to import.
        names = {name: (place, module) for place, name, module in names_on(page) if is_importable(place, name)}
        rows = (
            (f"[`{name}`]({page.path}.md#{name.lower()})", f"`{place}`", summary(*find(module, name), name))
            for name, (place, module) in sorted(names.items())
        )
        index += [f"## [{page.title}]({page.path}.md)", table(("name", "import from", "what it is"), rows)]
    made = {f"python/{page.path}.md": interface_page(page) for page in PAGES}
    return made | {"python/index.md": "\n\n".join(index)}


def is_importable(place: str, name: str) -> bool:
    """Decide whether a name can be imported from a module or package."""
    return place != "toolfmt" or name in PUBLIC


def interface_page(page: Page) -> str:
    """Describe the public names of a page, by the module that they are imported from."""
    parts, before = [f"# {page.title}"], ("", "")
    for place, name, module in names_on(page):
        if place != before[0]:
            parts.append(f"## From `{place}`")
        if (place, module) != before:
            parts.append(doc(source(module)))
        before = place, module
        parts += described(name, *find(module, name))
    return "\n\n".join(filter(None, parts))


def names_on(page: Page) -> list[tuple[str, str, str]]:
    """List the names of a page: what to import them from, the name, and the module below `toolfmt` to find it in."""
    roots = ((module, names) for root in page.root for module, names in modules().items() if module.startswith(root))
    found = [("toolfmt", name, module) for module, names in roots for name in names]
    return found + [(f"toolfmt.{place}", name, place) for place in page.places for name in exports(place)]


def summary(module: str, node: Definition, name: str) -> str:
    """Give the first paragraph of what describes a name, on one line."""
    words = doc(node) or field_docs(source(module)).get(name, "")
    return " ".join(words.split("\n\n")[0].split())


def exports(package: str) -> list[str]:
    """List the public names of a module: those of its stub or `__all__`, or those that `toolfmt` itself lacks."""
    if listed := stub(package):
        return sorted(alias.name for node in listed for alias in node.names)
    for node in source(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return [name for name in map(name_of, source(package).body) if name and name not in PUBLIC]


@cache
def stub(package: str) -> list[ast.ImportFrom]:
    """Read what the stub of a package imports; nothing where the package has none."""
    path = PACKAGE / package.replace(".", "/") / "__init__.pyi"
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    return [node for node in body if isinstance(node, ast.ImportFrom)]


def modules() -> dict[str, list[str]]:
    """Find the root's public names by the module that defines them, in the package's stub."""
    found: dict[str, list[str]] = {}
    for node in stub(""):
        if node.module is not None:
            found.setdefault(node.module, []).extend(alias.name for alias in node.names)
    for module, names in found.items():
        # What a signature unpacks is part of it.
        heads = [head(place, node) for place, node in (find(module, name) for name in names)]
        unpacked = dict.fromkeys(re.findall(r"Unpack\[(\w+)\]", "".join(heads)))
        names.extend(name for name in unpacked if name not in PUBLIC)
    return dict(sorted(found.items()))


@cache
def text(module: str) -> str:
    """Read a module of the package."""
    path = PACKAGE / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


@cache
def source(module: str) -> ast.Module:
    """Parse a module of the package."""
    return ast.parse(text(module))


def home(node: ast.ImportFrom) -> str:
    """Name the module that something is imported from, below the package."""
    return (node.module or "").removeprefix("toolfmt.")


def find(module: str, name: str) -> tuple[str, Definition]:
    """Find what a module defines under a name, or imports from another: the module that defines it, and the node."""
    for node in stub(module):
        if name in (alias.name for alias in node.names):
            return find(f"{module}.{node.module}", name)
    blocks = [node.body for node in source(module).body if isinstance(node, ast.If)]
    for node in chain(source(module).body, *blocks):
        if isinstance(node, Definition) and name_of(node) == name and not is_overload(node):
            return module, node
        if isinstance(node, ast.ImportFrom) and name in (alias.name for alias in node.names):
            return find(home(node), name)
    raise LookupError(f"toolfmt.{module} defines no {name}")


def is_overload(node: ast.AST) -> TypeGuard[Function]:
    """Decide whether a definition is one of several signatures of a function, before the one that has a body."""
    return isinstance(node, Function) and "overload" in map(ast.unparse, node.decorator_list)


def name_of(node: ast.AST) -> str:
    """Give the public name that a statement defines, "" if none; the methods of operators are public too."""
    name = ""
    if isinstance(node, Function | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        name = node.target.id
    return name if not name.startswith("_") or (name.endswith("__") and name not in UNSAID) else ""


def doc(node: ast.AST) -> str:
    """Give a docstring, "" if there is none."""
    return (isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node)) or ""


def body(node: Definition | ast.Module) -> list[ast.stmt]:
    """Give the statements inside a definition."""
    return [] if isinstance(node, ast.AnnAssign) else node.body


def field_docs(node: Definition | ast.Module) -> dict[str, str]:
    """Give the words that stand below the names in a class or a module."""
    return {
        name_of(field): str(below.value.value)
        for field, below in pairwise(body(node))
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and name_of(field)
    }


def head(module: str, node: Definition) -> str:
    """Give a definition as it is written, with its decorators, but for `checked`, and without its body."""
    decorators = [] if isinstance(node, ast.AnnAssign) else node.decorator_list
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    lines = text(module).splitlines()[first : node.end_lineno]
    for inside in body(node)[:1]:
        del lines[inside.lineno - first :]
        lines[-1] = lines[-1][: inside.col_offset]  # a body of `...` stands on the same line
    lines = [line for line in lines if not _CHECKED.match(line)]
    return _NOTE.sub("", dedent("\n".join(lines))).rstrip()


def described(name: str, module: str, node: Definition) -> Iterator[str]:
    """Describe one public name."""
    yield f"### `{name}`"
    if isinstance(node, ast.ClassDef):
        yield from class_parts(module, node)
    else:
        overloads = [one for one in source(module).body if is_overload(one) and one.name == name]
        yield fenced("\n".join(head(module, one) for one in overloads) or head(module, node))
        yield doc(node) or field_docs(source(module)).get(name, "")


def class_parts(module: str, node: ast.ClassDef) -> Iterator[str]:
    """Describe a class: its fields as they are written, then its methods."""
    fields = [head(module, field) for field in node.body if isinstance(field, ast.AnnAssign) and name_of(field)]
    yield fenced("\n    ".join((head(module, node), *(field.replace("\n", "\n    ") for field in fields))))
    yield doc(node)
    yield "\n".join(f"- `{field}`: {' '.join(words.split())}" for field, words in field_docs(node).items())
    methods: dict[str, list[Function]] = {}
    for method in node.body:
        if isinstance(method, Function) and name_of(method):
            methods.setdefault(method.name, []).append(method)
    for name, written in methods.items():
        # Where there are overloads, the last one says what they have in common, and no more.
        heads = [head(module, method) for method in (written[:-1] or written)]
        yield f"#### `{node.name}.{name}`"
        yield fenced("\n".join(heads))
        yield doc(written[-1])
