"""The pages hang together: links lead somewhere, the site's navigation has all of them, the README can be followed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def prose(page: Path) -> str:
    """Give a page's text without its code."""
    text = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(page: Path) -> set[str]:
    """Give the names that a page's headings get."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", prose(page)):
        found = page.parent / target if target else page
        assert found.exists(), target
        if page != ROOT / "README.md":
            assert found.resolve().is_relative_to(DOCS), f"{target} is no part of the site"
        assert not anchor or anchor in anchors(found), f"{target}#{anchor}"


def test_the_navigation_has_every_page_once() -> None:
    listed = re.findall(r"[\w\-/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    linked = {path.name for path in (DOCS / "reference" / "dialects").glob("*.md")} - {"index.md"}
    there = [page.relative_to(DOCS).as_posix() for page in PAGES[1:] if page.name not in linked]
    assert sorted(listed) == sorted(there)
    assert linked == set(re.findall(r"\((\S+?\.md)\)", prose(DOCS / "reference" / "dialects" / "index.md")))


@pytest.mark.parametrize("start", ["pip install -e '.[cli]' && toolfmt demo", "pip install -e '.[test]' && pytest"])
def test_readme_has_one_command_to_try_and_one_to_test(start: str) -> None:
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith(start)]
    assert lines == [start]
