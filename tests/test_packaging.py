"""What installing promises: the versions that are pinned, the extras that are named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
