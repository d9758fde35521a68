"""Builds the site and looks at every page in a headless browser.

    python docs/site.py    # exit code 1 if a page has a broken link, overflows at 400 pixels, or logs an error

Needs the extra `docs` and Debian's `chromium`, or another one that CHROMIUM names.
"""  # noqa: INP001 - a script

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Final

from playwright.sync_api import ViewportSize, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

ROOT: Final = Path(__file__).resolve().parents[1]
NARROW: Final = ViewportSize(width=400, height=800)
HERE: Final = ("http://127.0.0.1", "data:")
"""What the addresses of everything that a page loads begin with."""
_TOO_WIDE: Final = """() => {
    const width = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= width) return ""
    const wide = [...document.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > width + 1)
    return wide.length ? wide.at(-1).outerHTML.slice(0, 120) : "the page itself"
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the standard library's
        """Log nothing."""


def pages(site: Path) -> list[str]:
    """List the paths of all pages below the site's root."""
    return sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))


def look(page: Page, address: str) -> Iterator[str]:
    """Open one page and say what is wrong with it."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("response", lambda answer: heard.append(f"{answer.status} {answer.url}") if not answer.ok else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(("http://127.0.0.1", "data:")) else heard.append(asked.url),
    )
    page.goto(address, wait_until="load")
    yield from heard
    if wide := page.evaluate(_TOO_WIDE):
        yield f"wider than {NARROW['width']} pixels: {wide}"


def main() -> int:
    """Build, serve and look."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("no chromium: apt-get install chromium, or set CHROMIUM to its path")
        return 1
    wrong = 0
    with TemporaryDirectory() as folder:
        site = Path(folder)
        environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
            cwd=ROOT,
            check=True,
            env=environment,
        )
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-background-networking", "--no-first-run"]
            )
            context = browser.new_context(viewport=NARROW)
            found = pages(site)
            for path in found:
                page = context.new_page()
                for what in look(page, f"http://127.0.0.1:{server.server_port}/{path}"):
                    print(f"{path}: {what}")
                    wrong += 1
                page.close()
            browser.close()
        server.shutdown()
    print(f"{len(found)} pages, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
