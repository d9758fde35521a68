"""Paths among other things in one text: a list on which a policy is measured, and one of honest texts."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from bench.growth import EXPONENT
from tests.bad_input.test_growth import exponent, steps
from toolfmt import ToolDefinition, ToolInvocation
from toolfmt.execution import ProjectBoundaries
from toolfmt.execution.hooks import ToolContext
from toolfmt.execution.policies.links import FOLDERS, Folders
from toolfmt.execution.policies.policy import Candidate
from toolfmt.execution.policies.readings import TooManyReadingsError, _strings, mentioned, readings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="these are the paths of other systems")

OUTSIDE = [
    "cat /e??/passwd",
    "cat /{etc,x}/passwd",
    "cat /et{a..d}/passwd",
    "cat /e{z..a..1}c/passwd",
    'cat "/e"tc/passwd',
    "cat /e\\tc/passwd",
    "cat /''etc/passwd",
    "cat .''./x",
    "cat \\.\\./x",
    "cat '..'/x",
    'cat "."./x',
    "cat .{.,}/x",
    "{..,sub}/x",
    "..{/,x}etc",
    "{.,}./x",
    ".{.,.}/x",
    "a/{b,{c,..}}/../../x",
    "/".join(["{..,in}"] * 8),
    "{a,b,c,d}" * 8 + "/{..,in}" * 9,
    "{" + ",".join("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst") + ",x/{..,y}/../..}/x",
    "cat ${x:-..}/x",
    "${x-.}./x",
    "%HOME:~0,1%etc/passwd",
    "..%c1%9cetc",
    "..%e0%80%afetc",
    "%f0%80%80%afetc",
    "cat {.,}./x",
    "cat .$@./x",
    "cat .$1./x",
    "cat $1../outside/secret.txt",
    "cat $1/etc/passwd",
    "cat $9../o/s.txt",
    "cat $0/etc/passwd",
    "cat $1$2../o/s",
    "cat -$1../o/s",
    "cat in/a$1/../../../x",
    "cat /e$1tc/passwd",
    'cat "$1"../x',
    "cat .$1{.,}/x",
    "$1../x",
    "$1/etc/passwd",
    "cat ${10}../x",
    "cat ${10:-..}/x",
    "cat ${@:-..}/x",
    "cat ${@:9}../x",
    "cat ${!x}/etc/passwd",
    "cat .$!./x",
    "cat $!/etc/passwd",
    "cat $-../x",
    "cat ${-}../x",
    "cat ${*}/etc/passwd",
    "cat $*$1/etc/passwd",
    "cat $$../x",
    "..\x01/x",
    "..\x7f/x",
    "..\x9f/x",
    "..\\x7f/x",
    ".\x0c./x",
    "in/a\x01/etc/passwd",
    "in/a\x7f/etc/passwd",
    "cat in/a\x7f/etc/passwd",
    "cat .`:`./x",
    "cat .$()./x",
    "cat /e$@tc/passwd",
    "cat ${HOME:0:1}etc/passwd",
    "git --git-dir=.. log",
    "ls .*",
    "\\??\\C:\\x",
    "cat in/.?/.[.]/x",
    "cd ..",
    "cd .. && cat x",
    "ln -s .. x",
    "ls / -la",
    "rm -rf /",
    "rm -rf /*",
    "tar -C / x",
    "tar -C/ x",
    "cat /missing/../etc/passwd",
    "os.listdir('..')  # all",
    "\\N{FULL STOP}\\N{FULL STOP}/x",
    "\\N{SOLIDUS}etc\\N{SOLIDUS}passwd",
    ".\r./x",
    "in/a,/etc/passwd",
    "in/a, /etc/passwd",
    "in/a;/etc/passwd",
    "in/a /etc/passwd",
    "cat /etc/passwd",
    "in/a|/etc/x",
    "in/a&&cat /etc/passwd",
    ">/etc/x",
    "in/a >/etc/x",
    "2>/etc/x",
    "</etc/passwd",
    "-I/etc",
    "-L../../etc",
    "-o/etc/x",
    "=/x",
    "\u201c/etc/passwd\u201d",
    "\u2018/etc/passwd\u2019",
    "\xab/etc/passwd\xbb",
    "\u300c/etc/passwd\u300d",
    "\u201e/etc/passwd\u201c",
    "@/etc/passwd",
    "@@/etc/passwd",
    "-d@/etc/passwd",
    "-d @/etc/passwd",
    "f=@/etc/passwd",
    "f=</etc/passwd",
    "file=/etc/passwd",
    "--out=/etc/x",
    "--out /etc/x",
    "--out:/etc/x",
    "/out:/etc/x",
    "in/a:/etc/passwd",
    "in/a\t/etc/passwd",
    "in/a\n/etc/passwd",
    "\n/etc/passwd",
    "[in/a,/etc/passwd]",
    "[/etc/passwd]",
    "['in/a','/etc/passwd']",
    "{in/a,/etc/passwd}",
    "{/etc,in}/passwd",
    "in/{a,../../etc}",
    "`cat /etc/passwd`",
    "$(cat /etc/passwd)",
    "${HOME}/x",
    "$HOME/.ssh",
    "~root/x",
    "~/x",
    "~",
    "$HOME",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "\\\\srv\\share",
    "//srv/share",
    "\\\\srv\\share\\x",
    "C:\\Windows",
    "C:/Windows",
    "%2e%2e/x",
    "..%2f..%2fetc",
    "%c0%ae%c0%ae/x",
    "a\x00b",
    "in/a\x00",
    "in/../../x",
    "../",
    "..\\..\\x",
    "..;/x",
    "/",
    "/proc/self/environ",
    "/dev/stdin",
    "/dev/tcp/h/1",
    "\u2215etc\u2215passwd",
    "\uff0e\uff0e/x",
    "\u2025/x",
    "..\u2044x",
    "/etc//passwd",
    "/./etc",
    "-f=../../x",
    "-C../..",
    '--file="/etc/passwd"',
    "--x='../../y'",
    "path: /etc/passwd",
    "path:/etc/passwd",
    "path = /etc/passwd",
    "read /etc/passwd please",
    "see file /etc/passwd",
    "(/etc/passwd)",
    "</etc/passwd>",
    '"/etc/passwd","in/a"',
    "in/a\xa0/etc/passwd",
    "in/a\u3000/etc/passwd",
    "in/a\u2028/etc/passwd",
    "in/a\u060c/etc/passwd",
    "in/a\uff0c/etc/passwd",
    "*(/etc/passwd)",
    "!/etc/passwd",
    "^/etc/passwd",
    "#/etc/passwd",
    "+/etc/passwd",
    ":/etc/passwd",
    "in/a!/etc/passwd",
    "|/etc/passwd",
    "glob:/etc/*",
    "/etc/*",
    "../*",
    "**/../../x",
    "./../../x",
    "a/../../../x",
    "sftp:///etc/x",
    "unix:/var/run/docker.sock",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/x",
    "sqlite:////etc/x.db",
    "sqlite:///../../x.db",
    "jdbc:sqlite:/etc/x",
    "data:file:///etc/passwd",
    "ssh://h/../x;/etc/passwd",
    "tar -xf a -C/etc",
    "scp in/a /etc/x",
    "host:/etc/passwd",
    "user@host:/etc/passwd",
    "/etc/passwd:ro",
    "-v/etc:/etc",
    "/etc:/mnt",
    "in/a:/mnt",
    "--mount=type=bind,src=/etc,dst=/x",
    "type=bind,source=/etc",
    "a=1,b=/etc/x",
    "k1=v1;k2=/etc/x",
    "%u002e%u002e/",
    "~-/x",
    "~+/../x",
    "~-",
    "ls ~-/x",
    "~nobody-here/x",
    "%HOME%/x",
    "cat %HOME%/x",
    "$env:HOME/x",
    "${env:HOME}/x",
    "!HOME!/x",
    "$NOT_SET/etc/x",
    "cat $NOT_SET/etc/x",
    "%NOT_SET%/x",
    "%NOT_SET%\\Users\\me",
    "php://filter/resource=/etc/passwd",
    "php://filter/resource=../../etc/passwd",
    "vscode://file/etc/passwd",
    "..\u200b/x",
    "</etc>",
    "// see /etc/x",
    "//\n/etc/passwd",
    "http:///etc/passwd",
    "/help",
]
HONEST = [
    "https://example.com/a?x=1&y=../#z",
    "http://h:8080/p",
    "https://en.wikipedia.org/wiki/A,_B/C",
    "https://x.org/a,b/c;d=/e",
    "https://x.org/?u=/etc/x&b=2",
    "http://x.org/~user/",
    "https://x.org/$HOME",
    "http://localhost/api/users",
    "http://127.0.0.1/etc/x",
    "s3://bucket/key/x",
    "postgres://user@host/db",
    "// comment",
    "  // TODO: x/y",
    "</p>",
    "</div >",
    "+1 +2 a+b",
    "$NOT_SET",
    "100%/50% a",
    "see https://example.com/a/b for more",
    "Read https://a.b/c, then https://d.e/f.",
    "git@github.com:o/r.git",
    "ssh://git@host/path",
    "and/or",
    "either/or, and both",
    "he/she is here",
    "TCP/IP",
    "1/2",
    "3/4 cup of sugar",
    "12/31/2024",
    "2024/12/31",
    "2024-12-31T10:00:00+01:00",
    "31.12.2024",
    "10:00-11:00",
    "application/json",
    "text/html; charset=utf-8",
    "text/html,application/xhtml+xml",
    "image/*",
    "*/*",
    "Accept: */*",
    "km/h",
    "w/o sugar",
    "24/7",
    "n/a",
    "N/A",
    "a/b testing",
    "c/o John",
    "$5 off",
    "$5/month",
    "from $10 to $20/seat, $0.05/call",
    "$1 and $2",
    "s/(.*)-(.*)/$2-$1/",
    "awk '{print $1, $NF}' in/a",
    "echo $? $# $$ $!",
    "\x1b[1mbold\x1b[0m in/a",
    "a page\x0cand the next",
    "deleted\x7f and/or",
    "50% of x",
    "100%",
    "~5 items",
    "approx ~3",
    "C++",
    "C#",
    "x < y > z",
    "a < b",
    "f(x, 'y')",
    "std::vector<int>",
    "[1, 2]",
    '{"a": ["in/a", "b c"]}',
    "--n=5",
    "-x",
    "@user",
    "@org/package",
    "@types/node",
    "@babel/core@7",
    "#channel",
    "#123",
    "\\d+\\.\\d+",
    "\\bfoo\\b",
    "^/?[a-z]+/\\d+$",
    "^[^/]+$",
    "s/a/b/g",
    "(?:\\.\\./)*",
    r"\d{1,2}/\d{1,2}/(?:\d{2,4})",
    ".{1,3}/x",
    "src/**/*.{ts,tsx,js}",
    "{a,b}/{c,d}.{x,y}",
    json.dumps({f"k{at}": {"x": ["1.0", "./a", "."], "y": ".5"} for at in range(40)}, separators=(",", ":")),
    "function(a,b){return{a,b}}" * 30,
    "a{color:#fff,b:.5}" * 40,
    "\\w+@\\w+\\.\\w+",
    "AT&T & co",
    "in/../in/a",
    "./in",
    "in/a",
    "in/a b",
    "in/a,in/b",
    "in/a in/b",
    "src/main.py",
    "src/*.py",
    "**/*.ts",
    "a..b",
    "1..10",
    "...",
    "wait...",
    "etc.",
    "Hello, world!",
    "What's up?",
    "\u201cquoted\u201d prose",
    "costs $5/month",
    'echo "$@" ${NAME:-x}',
    "make CFLAGS=-O2 all",
    "find . -name '.*'",
    "Smith & Sons",
    "key=value",
    "a=1&b=2",
    "a=b,c=d",
    "user@example.com",
    "name <user@example.com>",
    "+1 (555) 123-4567",
    "SELECT a/b FROM t WHERE x > 1",
    "SELECT * FROM t",
    "print('a/b')",
    "ls -la in",
    "grep -n foo in/a",
    "git log --oneline",
    "x = a / b",
    "def f():\n    return '/etc/passwd'\n",
    "line one\nline two /etc/x\n",
    "import x from '../../y'\nfoo()\n",
    "yes",
    "no",
    "Paris",
    "New York, NY",
    "Z\xfcrich",
    "\u6771\u4eac",
    "\U0001f600",
    "a:b",
    "12:30",
    "::1",
    "192.168.0.1/24",
    "10.0.0.0/8",
    "00:11:22:33:44:55",
    "urn:isbn:123",
    "doi:10.1000/182",
    "mailto:a@b.c",
    "tel:+123",
    "data:text/plain,hello",
    "data:image/png;base64,iVBORw0KGgo/AAA=",
    "iVBORw0KGgo/AAA/+x==",
    "sha256:abc/def",
    "utf-8",
    "en-US",
    "Europe/Berlin",
    "America/New_York",
    "Etc/UTC",
    "GMT+1",
    "application/vnd.api+json",
    "refs/heads/main",
    "origin/main",
    "feature/x-y",
    "HEAD~1",
    "HEAD^",
    "v1.2.3",
    "^1.2.3",
    "~1.2.3",
    ">=1.0,<2",
    ">= 1.0",
    "<b>bold</b>",
    "<br/>",
    "<p>text</p>",
    "<a href='https://x.y/z'>l</a>",
    "a</b>",
    "</div></body>",
    "</p>\n</div>",
    "a .. b",
    "grep -n '/e??/x' in/a",
    "grep -n '.*/x' in/a",
    "\\N{NOTHING}/x",
    "# Title",
    "- item",
    "* item",
    "| a | b |",
    "`code`",
    "$x + $y$",
    "\\frac{a}{b}",
    "\\alpha",
    "\\n",
    "C:",
    "D: drive?",
    "it costs $3/unit",
    "5' 3\"",
    "50\xb0/60\xb0",
    "(a/b)",
    "[a/b]",
    "{a/b}",
    "'a/b'",
    "a, b/c; d",
    "he said: a/b",
    "Q/A",
    "I/O",
    "s/he",
    "a / b",
    "x /y",
    "and / or",
    "w/ cheese",
    " 1 / 2",
    "yes / no / maybe",
    "# comment /x",
    "!important",
    "@media (min-width: 3px)",
    "r/python",
    "u/name",
    "and so on...",
    "e.g. a/b",
    "T/F?",
    "\u2026",
]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> ProjectBoundaries:
    root: Path = tmp_path_factory.mktemp("project")
    (root / "in").mkdir()
    return ProjectBoundaries([root])


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/etc")


def refused(policy: ProjectBoundaries, value: Any, schema: Any = None) -> str | None:
    tool = ToolDefinition(name="use", parameters={"type": "object", "properties": {"value": schema or {}}})
    call = ToolInvocation(name="use", arguments={"value": value})
    blocked = policy.check(Candidate(call, ToolContext(call, ""), tool))
    return blocked and blocked.message


@pytest.mark.parametrize("text", OUTSIDE)
def test_a_path_outside_among_other_things_is_refused(policy: ProjectBoundaries, text: str) -> None:
    reason = refused(policy, text)
    assert reason is not None
    assert reason.endswith("is outside the project; use a path inside it")


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_text_is_not(policy: ProjectBoundaries, text: str) -> None:
    assert refused(policy, text) is None


@pytest.mark.parametrize("text", ["NUL", "con.txt", "in/aux", "COM1", "LPT1:", "nul.tar.gz"])
def test_a_device_of_windows_is_no_path_of_a_project(policy: ProjectBoundaries, text: str) -> None:
    assert refused(policy, text, {"type": "string", "format": "path"}) is not None


@pytest.mark.parametrize("text", ["console.txt", "in/a.nul", "auxiliary", "com10x", "in/contents"])
def test_a_name_that_only_begins_like_a_device_is_one(policy: ProjectBoundaries, text: str) -> None:
    assert refused(policy, text, {"type": "string", "format": "path"}) is None


@pytest.mark.parametrize("text", ["$1../x", "$1/etc/passwd", "in/$9../../../x", "$1$2/x"])
def test_a_path_may_begin_with_an_empty_parameter(policy: ProjectBoundaries, text: str) -> None:
    schema = {"type": "string", "format": "path"}
    assert refused(policy, text, schema) is not None
    assert refused(policy, "in/$1", schema) is None


@pytest.mark.parametrize("form", ["base64", "base64url"])
def test_a_path_that_the_schema_decodes_is_refused(policy: ProjectBoundaries, form: str) -> None:
    schema = {"type": "string", "format": form}
    outside, inside = (b64encode(text.encode()).decode() for text in ("/etc/passwd?>", "in/a"))
    assert refused(policy, outside, schema) is not None
    assert refused(policy, outside.replace("/", "_"), schema) is not None
    assert refused(policy, inside, schema) is None
    assert refused(policy, outside) is None


@pytest.mark.parametrize("unit", ["/etc/x ", "../../x,", "$HOME/", "~/a ", "/x%d "])
def test_a_text_of_many_paths_is_refused(policy: ProjectBoundaries, unit: str) -> None:
    text = "in/a " + "".join(unit.replace("%d", str(number)) for number in range(2_000))
    assert (refused(policy, text) is None) == ("%d" in unit)  # this machine has no such folders


@pytest.mark.parametrize(
    "unit",
    [
        "/x ",
        "a/b, ",
        ", ; | & ",
        "<a href='/b'>",
        "'x' ",
        "-I/e",
        "@",
        "\u201c",
        "x\u3000",
        "[(",
        "$HOME/",
        "~/a ",
        "a;b;",
        "a,b\n",
        "{,}",
        "{a,b}",
        "{..,{x,",
        "{a,b} ",
    ],
)
def test_a_text_is_split_in_steps_in_proportion_to_it(policy: ProjectBoundaries, unit: str) -> None:
    refused(policy, "in/q " + unit)
    small, large = (
        steps(lambda size=size: refused(policy, "in/q " + unit * (size // len(unit)))) for size in (2_000, 8_000)
    )
    assert exponent(small, large, 4) <= EXPONENT


def test_strings_in_a_list_are_found_from_left_to_right_in_one_pass() -> None:
    simple = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)  # each opening quote reads to the end
    for letters in product("\"'\\a", repeat=7):
        text = "".join(letters)
        assert list(_strings(text)) == [
            found[1] if found[1] is not None else found[2] for found in simple.finditer(text)
        ]
    assert not list(_strings("[" + '"\\' * 1_000_000))  # 64,000 characters took 24 s


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cat .'.'/x", ["../x"]),
        ("cat a/.'.'", ["a/.."]),
        ("ls .'.'", [".."]),
        ("cat ..'\\'x", []),  # a name with a backslash, in the folder itself
        ("cat /e't'c", ["/etc"]),
        ("cat /e't'd", []),
    ],
)
def test_quotes_inside_words_are_removed_as_shells_do(text: str, found: list[str]) -> None:
    assert list(mentioned(text, lambda path: path == "/etc", lambda _: False)) == found


def test_quotes_allow_as_many_readings_as_the_strings_of_a_list_need() -> None:
    def listed(wraps: int) -> str:
        return json.dumps([f"{'(' * wraps}a{at}{')' * wraps}" for at in range(300)])

    assert "a299" in readings(listed(7))  # eight readings of each string, four of each quote
    with pytest.raises(TooManyReadingsError):
        readings(listed(8))


@pytest.mark.parametrize(
    "command", ["cat {}", "cat <{}", "cat -- '{}'", "x --file={}", "x a={}", "in/a, {}", "x;cat {{{},in}}"]
)
def test_a_link_that_leads_out_is_followed_in_a_command_too(tmp_path: Path, command: str) -> None:
    for name in ("in", "out", "beside"):
        (tmp_path / name).mkdir()
    (tmp_path / "in/link").symlink_to("../out")
    (tmp_path / "in/within").symlink_to("../in/a")
    policy = ProjectBoundaries([tmp_path / "in"])
    assert refused(policy, command.format("link/x")) is not None
    for inside in ("within/x", "missing/x", "and/or", "a/link/x"):
        assert refused(policy, command.format(inside)) is None


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with links that lead out: `link`, and `sub/deep`."""
    path = tmp_path_factory.mktemp("linked")
    for name in ("in", "in/sub", "out"):
        (path / name).mkdir()
    (path / "out/secret.txt").touch()
    (path / "in/link").symlink_to("../out")
    (path / "in/sub/deep").symlink_to("../../out")
    (path / "in/near").symlink_to("sub")
    return path / "in"


@pytest.mark.parametrize(
    "text",
    [
        *("ls link", "ls link/", "grep -r s link", "cp -rL link x", "git -C link log", "x;ls link", "li$1nk/x"),
        *("tar -Clink -cf x .", "tar -xzClink", "--dir=link", "ls --dir=link", "--a=b=link", "x=link make"),
        *("tar --dir=li'n'k x", "--dir=l*", "--mount=type=bind,src=link"),
        *("cat l*/secret.txt", "./lin?/x", "./li[n]k/x", "./l*/*", "cat [[:alpha:]]ink/x", "cat [^z]ink/x"),
        *("cat l*", "cat *", "cp -rL * x", "cat */secret.txt", "cat */*", "cat **/secret.txt", "cat 'li'n?/x"),
        *("cat @(link)/x", "cat li@(n)k/x", "cat @(a|l@(x|i))nk/x", "cat +(l)ink/x", "cat !(z)/x"),
        *("cat <l*/secret.txt", "cat sub/../l*/x", "cat li{n,m}?/x", "cat l*k/../x", "cat {root}/l*/x", "{root}/l*/x"),
        *("cat sub/*/x", "cat s*/d*/x", "cat */deep/x", "cat **/deep/x", "cat n*/deep/x"),
    ],
)
def test_a_link_that_leads_out_is_found_by_its_name_and_by_a_pattern(linked: Path, text: str) -> None:
    assert refused(ProjectBoundaries([linked]), text.replace("{root}", str(linked))) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("links", "ls linked", "ls near", "cat near/*.py", "ls -l sub", "x=linked", "https://x.org/?q=link"),
        *("see https://x.org/?q=link ok", "http://x.org/link", "https://x.org/a*b/link?x=1"),
        *("cat 'l*/x'", "cat \\l\\*/x", "find . -name 'l*'", "cat s*/x", "ls n*"),
        *("*", "**", "*.ts", "**/*.ts", "sub/**/*.ts", "SELECT * FROM t", "2 * 3", "* item", "**bold** text"),
        *("why? no", "x[0] = y[1]", "a*b+c*d", "image/*", "def f(*args, **kw)", "(?:a|b)*c"),
    ],
)
def test_other_names_and_patterns_beside_a_link_pass(linked: Path, text: str) -> None:
    assert refused(ProjectBoundaries([linked]), text) is None


def test_patterns_are_looked_for_in_a_bounded_number_of_folders(tmp_path: Path) -> None:
    for name in range(FOLDERS + 50):
        (tmp_path / f"d{name}/e").mkdir(parents=True)
    folders = Folders(tmp_path, lambda _: True)
    assert not folders.lead_out("**/e*/**/*.py")
    assert len(folders._listed) == FOLDERS


def test_patterns_that_reach_a_folder_in_many_ways_look_at_it_once(tmp_path: Path) -> None:
    folder = tmp_path
    for depth in range(20):
        folder /= f"d{depth}"
    folder.mkdir(parents=True)
    folders = Folders(tmp_path, lambda _: True)
    pattern = "/".join(["**"] * 12 + ["x"])
    assert steps(lambda: folders.lead_out(pattern)) < 50_000  # a visit for each way there would take millions
