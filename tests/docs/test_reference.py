"""The pages of `docs/reference/` are what `docs/generate.py` writes, and its check sees when they are not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import toolfmt
from tests import sampling

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = DOCS / "reference"


def _kept(page: str, head: str) -> str:
    return (REFERENCE / page).read_text(encoding="utf-8").removeprefix(head)


@pytest.fixture(scope="module")
def generate() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        made = import_module("generate")
        if not sampling.everything:  # 16,000 conversions measure the matrix
            for name, page in (("matrix_page", "matrix.md"), ("matrix_chart", "matrix.svg")):
                patch.setattr(made, name, partial(_kept, page, made.MADE))
        patch.setattr(made, "pages", cache(made.pages))  # they take seconds, and are the same for all that follows
        yield made
    for name in ("generate", "names", "blocks"):
        sys.modules.pop(name, None)


@pytest.fixture
def place(generate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(generate, "PLACE", tmp_path)
    return tmp_path


def test_the_pages_are_what_the_generator_writes(generate: Any) -> None:
    for path, text in generate.pages().items():
        assert (REFERENCE / path).read_text(encoding="utf-8") == text, "run: python docs/generate.py"
    assert generate.main(["--check"]) == 0


def test_every_public_name_has_a_heading(generate: Any) -> None:
    pages = {path: text for path, text in generate.pages().items() if path.startswith("python/")}
    described = {path: set(re.findall(r"^### `(\w+)`$", text, re.MULTILINE)) for path, text in pages.items()}
    listed = re.findall(r"^\| \[`(\w+)`\]\((\w+\.md)#", pages["python/index.md"], re.MULTILINE)
    modules = re.findall(r"^## From `toolfmt\.(\w+)", "\n".join(pages.values()), re.MULTILINE)
    assert set(toolfmt.__all__) - {"__version__"} <= {name for name, _ in listed}.union(modules)
    assert [(name, page) for name, page in listed if name not in described[f"python/{page}"]] == []


def test_links_lead_to_pages_and_blocks_are_closed(generate: Any) -> None:
    for path, text in generate.pages().items():
        fence = ""
        for line in text.splitlines():
            if found := re.match("(`{3,})(text|json|console)?$", line):
                fence = "" if fence == found[1] and not found[2] else fence or found[1]
            if not fence:
                for target in re.findall(r"\]\(([^)#]+)", re.sub("`[^`]*`", "", line)):
                    assert (REFERENCE / path).parent.joinpath(target).is_file(), (path, target)
        assert fence == "", path


def test_check_tells_of_a_page_that_differs(generate: Any, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    page = place / "errors.md"
    page.write_text(page.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err == "stale: docs/reference/errors.md\n"
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_a_page_of_nothing_goes_and_one_by_hand_stays(generate: Any, place: Path) -> None:
    assert generate.main([]) == 0
    gone, kept = place / "dialects" / "gone.md", place / "by-hand.md"
    gone.write_text(generate.MADE, encoding="utf-8")
    kept.write_text("# By hand\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert (gone.exists(), kept.exists()) == (False, True)


def test_other_arguments_are_refused(generate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err
