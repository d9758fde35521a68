"""What installing promises: the versions that are pinned, the extras that are named."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from toolfmt.errors import install_line

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def test_constraints_pin_everything_that_is_asked_for() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = {pin.name: pin.specifier for pin in (Requirement(line) for line in lines if not line.startswith("#"))}
    wanted = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    wanted += PYPROJECT["build-system"]["requires"]
    for requirement in map(Requirement, wanted):
        if requirement.name == PROJECT["name"]:
            continue
        (pin,) = pins[canonicalize_name(requirement.name)]
        assert pin.operator == "==", requirement.name
        assert requirement.specifier.contains(pin.version), requirement.name


def test_every_extra_that_an_error_names_exists() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "toolfmt").rglob("*.py")]
    named = {extra for text in sources for extra in re.findall(r"""MissingExtraError\([^)]*["'](\w+)["']\)""", text)}
    assert named <= EXTRAS.keys()


def test_changelog_begins_with_this_version() -> None:
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading[1] == PROJECT["version"]


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (None, "pip install 'toolfmt[cli]'"),
        ({"url": "https://example.org/toolfmt.whl", "archive_info": {}}, "pip install 'toolfmt[cli]'"),
        ({"url": "file:///src/tool%20fmt", "dir_info": {}}, "pip install '/src/tool fmt[cli]'"),
        ({"url": "file:///src/toolfmt", "dir_info": {"editable": True}}, "pip install -e '/src/toolfmt[cli]'"),
        ({"url": ROOT.as_uri(), "dir_info": {"editable": True}}, "pip install -e '.[cli]'"),
    ],
)
def test_the_line_to_install_an_extra_is_that_of_the_installation(
    origin: dict[str, object] | None, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "toolfmt-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: toolfmt\nVersion: 0.1.0\n", "utf-8")
    if origin is not None:
        (folder / "direct_url.json").write_text(json.dumps(origin), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(ROOT)
    assert install_line("cli") == line
