"""What the standard library opens outside a project is refused, however it is wrapped; the library is the judge."""

from __future__ import annotations

import contextlib
import json
import os
import urllib.request
from base64 import b64encode
from email.header import Header
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import quote, unquote, unquote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import sampling
from toolfmt import ToolDefinition, ToolInvocation, ToolRegistry
from toolfmt.execution import Executor, ProjectBoundaries
from toolfmt.execution.hooks import ToolContext
from toolfmt.execution.policies.policy import Candidate
from toolfmt.execution.policies.readings import MOST, TooManyReadingsError, readings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="these are the paths of other systems")

WRAPS: dict[str, Callable[[str], str]] = {
    "file": lambda text: f"file://{text}",
    "FILE": lambda text: f"FILE:{text}",
    "localhost": lambda text: f"file://localhost{text}",
    "angle": lambda text: f"<{text}>",
    "url": lambda text: f"URL:{text}",
    "url blank": lambda text: f"URL: {text}",
    "spaces": lambda text: f"  {text}\t",
    "no-break": lambda text: f"\u00a0{text}",
    "ideographic": lambda text: f"\u3000{text}\u3000",
    "control": lambda text: f"\x01\x1f{text}",
    "zero width": lambda text: f"\u200b{text}",
    "line break": lambda text: f"{text[:2]}\n{text[2:]}",
    "tab": lambda text: f"{text[:3]}\t{text[3:]}",
    "percent": lambda text: quote(text, safe=":/<>%"),
    "percent all": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent percent": lambda text: text.replace("%", "%25"),
    "jar": lambda text: f"jar:{text}!/entry",
    "view-source": lambda text: f"view-source:{text}",
    "quotes": lambda text: f'"{text}"',
    "entities": lambda text: "".join(f"&#x{ord(one):x};" for one in text),
    "escapes": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "long escapes": lambda text: "".join(f"\\U{ord(one):08x}" for one in text),
    "utf-7": lambda text: "".join(f"+{b64encode(one.encode('utf-16be')).decode().rstrip('=')}-" for one in text),
    "percent u": lambda text: "".join(f"%u{ord(one):04x}" for one in text),
    "braces": lambda text: "".join(f"\\u{{{ord(one):x}}}" for one in text),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "quoted-printable": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "encoded word": lambda text: Header(text, "utf-8", maxlinelen=10**6).encode(),
    "plus": lambda text: f"+{text}",
    "json": lambda text: json.dumps({"a": [1, text]}),
    "literal": lambda text: repr([text, b"x"]),
    "constructor": lambda text: f"PosixPath({text!r})",
    "brackets": lambda text: f"[{text}]",
    "option": lambda text: f"--file={text}",
    "form": lambda text: f"a=1&path={text}",
    "chain": lambda text: f"zip://x::simplecache::{text}",
    "fragment": lambda text: f"{text}#/../../../srv",
    "query": lambda text: f"{text}?x=/../../srv",
}
BREAKS = {"line break", "tab"}
ESCAPES = {"escapes", "long escapes", "utf-7", "percent u", "braces", "octal", "quoted-printable"}
UNBROKEN = {"entities", *ESCAPES, "encoded word", "option", "constructor"}
"""What no longer is one with a break inside."""
TARGETS = ["/etc/passwd", "../../etc/passwd", "~/x", "$HOME/x", "out/etc/passwd", "/srv/%2e%2e/x", "in/a"]


class Recorder(urllib.request.FileHandler):
    """Opens files as `urllib` does, but only remembers which."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open_local_file(self, req: urllib.request.Request) -> Any:
        self.opened.append(urllib.request.url2pathname(req.selector))
        raise URLError("recorded")


def opened(text: str) -> Iterator[str]:
    """Give what `urllib` and `open` would open for a text, with what tools usually do to one before."""
    for url in (text, text.strip(), unquote(text), unquote_plus(text.strip()), unescape(text), os.path.normpath(text)):
        recorder = Recorder()
        opener = urllib.request.OpenerDirector()
        opener.add_handler(recorder)
        with contextlib.suppress(URLError, ValueError, OSError):
            opener.open(url)
        yield from recorder.opened
        yield url
        yield os.path.expandvars(os.path.expanduser(url))  # noqa: PTH111 - as text


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("project")
    (path / "in").mkdir()
    (path / "out").symlink_to("/")
    return path.resolve()


def use(value: Any) -> str:
    """Use a value."""
    return str(value)


def failure(root: Path, value: Any) -> str | None:
    executor = Executor(ToolRegistry([use]), policies=[ProjectBoundaries([root])])
    return executor.execute_sync([ToolInvocation(name="use", arguments={"value": value})])[0].failure


def is_outside(root: Path, path: str) -> bool:
    if "\0" in path or "\n" in path.strip():
        return False  # nothing opens the one, and the other is text of several lines
    real = Path(os.path.realpath(root / path))
    return real != root and root not in real.parents


@settings(max_examples=1000 if sampling.everything else 100, deadline=None)
@given(
    target=st.sampled_from(TARGETS),
    wraps=st.lists(st.sampled_from(sorted(WRAPS)), max_size=4),
    noise=st.text(alphabet="/.:%<> \\\t~$", max_size=2),
)
def test_what_the_standard_library_opens_outside_is_refused(
    root: Path, target: str, wraps: list[str], noise: str
) -> None:
    text = noise + target
    for wrap in wraps:
        text = WRAPS[wrap](text)
    if any(is_outside(root, path) for path in opened(text)):
        assert failure(root, text) == "outside_project", text


@pytest.mark.parametrize("wrap", sorted(WRAPS.keys() - {"fragment", "query", "jar", "chain", *ESCAPES}))
@pytest.mark.parametrize("file", ["in/a", "in/a b"])
def test_a_file_inside_may_be_wrapped_too(root: Path, wrap: str, file: str) -> None:
    inner = "file://" if wrap not in {"file", "FILE", "localhost"} else ""
    assert failure(root, WRAPS[wrap](f"{inner}{quote(str(root / file))}")) is None


@pytest.mark.parametrize("wrap", sorted(WRAPS))
def test_a_file_url_outside_is_refused_however_it_is_wrapped(root: Path, wrap: str) -> None:
    policy = ProjectBoundaries([root])
    for other in sorted(WRAPS.keys() - (BREAKS if wrap in UNBROKEN else set())):
        text = WRAPS[other](WRAPS[wrap]("file:///etc/passwd"))
        for value in (text, {"deep": [text]}, {text: 1}):
            call = ToolInvocation(name="use", arguments={"value": value})
            assert policy.check(Candidate(call, ToolContext(call, ""))) is not None, text


@pytest.mark.parametrize(
    "text",
    [
        "%252e%252e/x",
        "%25252e%25252e/%25252e%25252e/x",
        "git+file:///etc/passwd",
        "zip::file:///etc/x.zip",
        "local:///etc/passwd",
        "\uff0fetc\uff0fpasswd",
        "a\0b",
        "file:\\\\server\\share",
        "file://127.0.0.1/etc/passwd",
        "file://\\/etc/passwd",
        "file://localhost\\/etc/passwd",
        "<" * 400 + "x" + ">" * 400,
        "host:/etc/passwd",
        "/" + "./" * 3_000 + "etc/passwd",
        "/" * 5_000 + "etc/passwd",
        "in/" + "../" * 3_000 + "x",
        "in\n/../../x",
        "zip://a::/etc/x.zip",
        "local://~/x",
        "local://../x",
        "git://../x:main@y",
        "my_files:///etc/passwd",
        "in/a:/etc/passwd",
        "\\etc\\passwd",
        "@/etc/passwd",
        "[" * 400 + "/" + "]" * 400,
        "file:" * 100_000,
        "feed:file:///etc/passwd",
        "cat$IFS/etc/passwd",
        "x;cat$IFS$9/etc/passwd",
        "cat${IFS%??}/etc/passwd",
        "\ufb01le:///etc/passwd",
        "\u2025/x",
        "&sol;etc&sol;passwd",
        "file://%6c%6fcalhost/etc/passwd",
        "phar:///etc/x",
        "ext::sh -c cat% /etc/passwd",
    ],
)
def test_what_may_be_read_as_a_place_outside_is_refused(root: Path, text: str) -> None:
    assert failure(root, text) == "outside_project"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "and/or",
            "TCP/IP",
            "~5 items",
            "$5 off",
            "50% of x",
            "C++",
            "10:00:00+01:00",
            "a..b",
            "x < y > z",
            "f(x, 'y')",
        ),
        *("https://example.com/a?x=1&y=../#z", "http://h:8080/p", "git@github.com:o/r.git", "std::vector<int>"),
        *(
            "[1, 2]",
            '{"a": ["in/a", "b c"]}',
            "--n=5",
            "@user",
            r"\d+\.\d+",
            r"\bfoo\b",
            "AT&T & co",
            "in/../in/a",
            "./in",
        ),
        *(
            "def f():\n    return '/etc/passwd'\n",
            "import x from '../../y'\nfoo()\n",
            "<p>a &amp; b + c%20d é \\n</p>" * 999,
        ),
        '["' + '", "'.join(["a c"] * 999) + '"]',
    ],
)
def test_what_leads_nowhere_else_passes(root: Path, text: str) -> None:
    assert failure(root, text) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]},
        {"anyOf": [{"type": "string", "format": "regex"}, {"type": ["string", "null"]}]},
        {"type": "string", "format": "uuid"},
        {"oneOf": [{"format": "regex", "type": "string"}, {"minLength": 1}]},
        {"enum": ["in/a"], "type": "string"},
    ],
)
def test_only_a_schema_that_leaves_no_doubt_says_that_a_text_is_no_path(root: Path, schema: Any) -> None:
    tool = ToolDefinition(name="use", parameters={"type": "object", "properties": {"value": schema}})
    call = ToolInvocation(name="use", arguments={"value": "/etc/passwd"})
    blocked = ProjectBoundaries([root]).check(Candidate(call, ToolContext(call, ""), tool))
    assert blocked is not None
    assert blocked.failure == "outside_project"


def test_a_text_has_a_bounded_number_of_readings() -> None:
    with pytest.raises(TooManyReadingsError):
        readings("<" * MOST + "x" + ">" * MOST)
    assert len(readings(" " * 100_000 + "<URL:%2525252525x>")) <= MOST
    with pytest.raises(TooManyReadingsError):
        readings("'" * 400_000)
    assert readings("word") == ("word",)


def test_a_key_writes_no_line_of_its_own_in_a_log(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert failure(root, {"x\n2026-01-01 ERROR forged\x1b[2J": "/etc/passwd"}) == "outside_project"
    (record,) = caplog.records
    assert record.getMessage().isprintable()
    assert "forged" in record.getMessage()
