"""The shape of the package: who imports whom, what an import costs, what the core may not do."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.cli import lint_imports

from toolfmt.lookup.providers import PROVIDERS
from toolfmt.lookup.registry import default_registry

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "toolfmt"
PYPROJECT = str(ROOT / "pyproject.toml")
CONTRACTS = [contract["id"] for contract in read_configuration(PYPROJECT)["contracts_options"]]
MODULES = sorted(PACKAGE.rglob("*.py"))
# As in the contract `core` of pyproject.toml: everything is core but these.
OUTER = {"agents", "cli", "corpora", "execution", "gateway", "mcp"}
CORE = [path for path in MODULES if not {path.relative_to(PACKAGE).parts[0], path.parent.name} & {*OUTER, "testing"}]
LONGEST = 400
IMPORT_BUDGET_S = 0.1


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def trees() -> dict[Path, ast.Module]:
    """Parse the core's modules."""
    return {path: ast.parse(path.read_text("utf-8")) for path in CORE}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_import_contract(contract: str, capsys: pytest.CaptureFixture[str]) -> None:
    broken = lint_imports(config_filename=PYPROJECT, limit_to_contracts=(contract,), cache_dir=None, no_logo=True)
    for (
        logger
    ) in logging.Logger.manager.loggerDict.values():  # it switches off all there are, and other tests read them
        if isinstance(logger, logging.Logger):
            logger.disabled = False
    assert not broken, capsys.readouterr().out


def test_no_import_circle_even_for_types() -> None:
    """Import contracts leave out what only annotations need; here it counts too."""
    graph = grimp.build_graph("toolfmt", exclude_type_checking_imports=False, cache_dir=None)
    TopologicalSorter({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}).prepare()


def run(code: str) -> str:
    """Run code in a fresh interpreter and give what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_import_stays_within_its_budget() -> None:
    code = """
import time
from pydantic import BaseModel
class Model(BaseModel):
    value: int
start = time.process_time()
import toolfmt
print(time.process_time() - start)
"""
    assert min(float(run(code)) for _ in range(5)) < IMPORT_BUDGET_S


def test_import_loads_nothing_heavy() -> None:
    heavy = ("cyclopts", "jinja2", "jsonschema_rs", "lxml", "regex", "rich")
    assert run(f"import sys, toolfmt; print(*sorted({set(heavy)!r} & sys.modules.keys()))").split() == []


def test_reading_a_first_call_loads_only_what_reads_it() -> None:
    unwanted = ("importlib.metadata", "jinja2", "jsonschema_rs", "lxml")
    unwanted += ("toolfmt.conversation", "toolfmt.tools", "toolfmt.transcripts")
    code = f"""
import sys, toolfmt
(call,) = toolfmt.parse('<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>').calls
print(*sorted({set(unwanted)!r} & sys.modules.keys()))
print(*sorted(name for name in sys.modules if name.startswith("toolfmt.parsers.bodies.literal_v")))
"""
    assert run(code).split() == []


def test_reading_a_known_format_searches_no_other_packages_and_loads_no_tolerant_reader() -> None:
    unwanted = ("importlib.metadata", "toolfmt.detection", "toolfmt.parsers.reading")
    code = f"""
import sys, toolfmt
answer = 'Yes.<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>'
(call,) = toolfmt.parse(answer, dialect="hermes").calls
print(*sorted({set(unwanted)!r} & sys.modules.keys()))
"""
    assert run(code).split() == []


def test_the_command_that_reads_an_answer_reads_its_arguments_before_pydantic_is_loaded() -> None:
    assert run("import sys, toolfmt.cli.app, toolfmt.cli.parse; print('pydantic' in sys.modules)").split() == ["False"]


def test_the_command_that_reads_an_answer_loads_nothing_that_runs_calls() -> None:
    unwanted = (
        "anyio",
        "cyclopts.completion",
        "rich",
        "toolfmt.agents",
        "toolfmt.conversation",
        "toolfmt.execution",
        "toolfmt.tools",
    )
    code = f"""
import io, sys
from contextlib import redirect_stdout
from toolfmt.cli import main
sys.stdin = io.TextIOWrapper(io.BytesIO(b'<tool_call>{{"name": "f", "arguments": {{}}}}</tool_call>'))
with redirect_stdout(io.StringIO()):
    assert main(["parse", "--json"]) == 0
print(*sorted({set(unwanted)!r} & sys.modules.keys()))
"""
    assert run(code).split() == []


def test_a_module_holds_one_idea() -> None:
    lengths = {name(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_a_public_type_name_means_one_thing() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            match node:
                case (
                    ast.ClassDef(name=found)
                    | ast.AnnAssign(target=ast.Name(id=found), annotation=ast.Name(id="TypeAlias"))
                ):
                    homes[found].append(name(path))
                case _:
                    pass
    assert {found: paths for found, paths in homes.items() if len(paths) > 1 and not found.startswith("_")} == {}


def surroundings_read(tree: ast.Module) -> Iterator[str]:
    """Find what asks the environment or the clock; import contracts keep out the modules that can't do without."""
    reads = {
        "os": {"environ", "environb", "getenv", "getenvb"},
        "datetime": {"now", "today", "utcnow"},
        "date": {"today"},
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=attr):
                if attr in reads.get(owner, ()):
                    yield f"line {node.lineno}: {owner}.{attr}"
            case ast.ImportFrom(module=str(owner), names=aliases):
                yield from (f"line {node.lineno}: {owner}.{a.name}" for a in aliases if a.name in reads.get(owner, ()))
            case _:
                pass


def names_branched_on(tree: ast.Module, names: set[str]) -> Iterator[str]:
    """Find comparisons and match cases against one of these strings."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                compared = [left, *others]
            case ast.MatchValue(value=value):
                compared = [value]
            case _:
                continue
        for constant in (inner for part in compared for inner in ast.walk(part)):
            if isinstance(constant, ast.Constant) and constant.value in names:
                yield f"line {constant.lineno}: {constant.value!r}"


def test_core_depends_on_its_arguments_alone() -> None:
    assert [f"{name(path)}, {read}" for path, tree in trees().items() for read in surroundings_read(tree)] == []


def test_core_branches_on_traits_not_names() -> None:
    names = {*default_registry().names(), *(provider.name for provider in PROVIDERS)}
    given = {path for path in CORE if path.parent.name == "dialects" or path == PACKAGE / "lookup" / "providers.py"}
    branching = {path: tree for path, tree in trees().items() if path not in given}
    assert [
        f"{name(path)}, {found}" for path, tree in branching.items() for found in names_branched_on(tree, names)
    ] == []


def test_the_checks_find_what_they_look_for() -> None:
    tree = ast.parse(
        "import os\nfrom os import getenv\nos.environ['A']\ndatetime.datetime.now()\n"
        "if name == 'hermes' or name in ('hermes',): ...\nmatch name:\n    case 'hermes': ...\n"
    )
    reads = ["line 2: os.getenv", "line 3: os.environ", "line 4: datetime.now"]
    assert list(surroundings_read(tree)) == reads
    assert list(names_branched_on(tree, {"hermes"})) == ["line 5: 'hermes'", "line 5: 'hermes'", "line 7: 'hermes'"]
