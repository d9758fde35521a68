from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import toolfmt

SOURCE = Path(toolfmt.__file__)


def test_every_public_name_resolves_and_is_kept() -> None:
    for name in toolfmt.__all__:
        assert getattr(toolfmt, name) is getattr(toolfmt, name), name
    assert set(toolfmt.__all__) <= set(dir(toolfmt))


def test_the_root_holds_what_everybody_needs_and_no_more() -> None:
    assert len(toolfmt.__all__) <= 60


def test_no_function_shares_its_name_with_a_module() -> None:
    modules = {path.stem for path in SOURCE.parent.iterdir() if path.is_dir() or path.suffix == ".py"}
    functions = set(toolfmt.__all__) - {"errors", "ids"}
    assert modules & functions == set(), "importing the module would put it in the function's place"


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="prase"):
        _ = toolfmt.prase  # type: ignore[attr-defined]


def test_the_version_is_the_one_that_is_published() -> None:
    project = SOURCE.parents[1] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == toolfmt.__version__


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    script = "import sys, toolfmt; print([name for name in sys.modules if name.startswith(('toolfmt.', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", script], cwd=SOURCE.parent.parent, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
