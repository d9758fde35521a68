from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import toolfmt

SOURCE = Path(toolfmt.__file__)


def imported_for_type_checkers() -> set[str]:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    for node in imports:
        module = (node.module or "").removeprefix("toolfmt").removeprefix(".")
        for alias in node.names:
            assert toolfmt._HOME.get(alias.name, "") == module, f"{alias.name} has two homes"
    return {alias.name for node in imports for alias in node.names} | {"__version__"}


def test_readers_of_the_source_and_programs_see_the_same_names() -> None:
    assert set(toolfmt.__all__) == imported_for_type_checkers()
    assert set(toolfmt.__all__) == {*toolfmt._HOME, "ids", "__version__"}
    assert sorted(toolfmt.__all__) == sorted(set(toolfmt.__all__))
    assert set(toolfmt.__all__) <= set(dir(toolfmt))


@pytest.mark.parametrize("name", toolfmt.__all__)
def test_every_public_name_resolves(name: str) -> None:
    home = toolfmt._HOME.get(name, name)
    if name != "__version__" and find_spec(f"toolfmt.{home}") is None:
        pytest.skip(f"toolfmt.{home} is not there")
    value = getattr(toolfmt, name)
    assert value is getattr(toolfmt, name)
    if name in toolfmt._HOME:
        assert value is getattr(sys.modules[f"toolfmt.{home}"], name)


def test_no_function_shares_its_name_with_a_module() -> None:
    modules = {path.stem for path in SOURCE.parent.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert modules & set(toolfmt._HOME) == set(), "importing the module would put it in the function's place"


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'toolfmt' has no attribute 'prase'"):
        _ = toolfmt.prase  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    script = "import sys, toolfmt; print([name for name in sys.modules if name.startswith(('toolfmt.', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", script], cwd=SOURCE.parent.parent, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
