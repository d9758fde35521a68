"""The command as a process of its own: pipes, streams, what it imports, what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolfmt.cli.app import COMMANDS
from toolfmt.errors import install_line

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "toolfmt")


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        encoding="utf-8",
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, cwd=ROOT)


def test_a_pipe_of_two_commands() -> None:
    calls = '[{"name": "f", "arguments": {"a": "Łódź ✓", "b": [1, 1.0, true, null]}}]'
    written = run("render", "-", "-d", "execute-array", stdin=calls)
    assert (written.returncode, written.stderr) == (0, "")
    read = run("parse", "-", "-d", "execute-array", "--json", stdin=written.stdout)
    assert read.returncode == 0
    assert '"b": [\n' in read.stdout
    (call,) = json.loads(read.stdout)["calls"]
    assert (call["name"], call["arguments"]) == ("f", json.loads(calls)[0]["arguments"])


def test_the_output_is_utf_8_whatever_the_locale_says() -> None:
    found = run("parse", "--json", stdin="Łódź ✓", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (found.returncode, json.loads(found.stdout)["text"]) == (0, "Łódź ✓")


def test_a_mistake_gives_exit_code_2_and_no_traceback() -> None:
    found = run("parse", "-d", "xml-itemz", stdin="x")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("toolfmt: unknown dialect 'xml-itemz'; did you mean 'xml-items'")
    assert found.stderr.count("\n") == 1


def test_the_demo() -> None:
    found = run("demo", "xml-items")
    assert (found.returncode, found.stderr) == (0, "")
    assert "✓ xml-items" in found.stdout


def test_events_come_before_the_answer_has_ended() -> None:
    with subprocess.Popen(
        [*COMMAND, "parse", "--stream", "--json", "-d", "tool-json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'First.<tool>{"tool_name": "f", "arguments": {}}</tool>')
        process.stdin.flush()
        kinds: list[str] = []
        while "call_end" not in kinds:  # the other end of the pipe is still open
            kinds.append(json.loads(process.stdout.readline())["event"])
        assert kinds[0] == "text_delta"
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGPIPE to be like")
def test_a_reader_that_goes_away() -> None:
    with subprocess.Popen(
        [*COMMAND, "parse", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"some text\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_reader_that_has_gone_ends_every_command_alike(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"messages": [{"role": "user", "content": "Hi."}]}\n' * 99, "utf-8")
    for command in (
        ("view", rows, "--limit", "99"),
        ("convert", rows, "--to", "gemini"),
        ("dialects", "show", "hermes"),
    ):
        reader, writer = os.pipe()
        os.close(reader)
        ran = subprocess.run(
            [*COMMAND, *map(str, command)], stdout=writer, stderr=subprocess.PIPE, check=False, cwd=ROOT, text=True
        )
        os.close(writer)
        assert (ran.returncode, "Traceback" in ran.stderr) == (141, False), (command, ran.stderr)


def test_without_the_extra_it_says_what_to_install() -> None:
    found = python("import sys; sys.modules['cyclopts'] = None; from toolfmt.cli import main; sys.exit(main(['demo']))")
    assert (found.returncode, found.stdout) == (2, "")
    assert install_line("cli") in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["--help"], {"jinja2", "lxml", "pydantic", "toolfmt.lookup.registry"}),
        (["--version"], {"cyclopts", "pydantic"}),
        (["parse", "README.md"], {"jinja2", "jsonschema_rs", "lxml", "rich", "toolfmt.agents", "toolfmt.mcp"}),
        (["providers"], {"jinja2", "rich", "toolfmt.manifests", "toolfmt.parsing"}),
        (["render", "nowhere.json"], {"jinja2", "rich", "toolfmt.manifests", "toolfmt.parsing"}),
    ],
)
def test_a_command_imports_what_it_needs(arguments: list[str], unwanted: set[str]) -> None:
    found = python(
        f"import sys; from toolfmt.cli import main; main({arguments!r})\n"
        f"print(*sorted({unwanted!r} & sys.modules.keys()), file=sys.stderr)"
    )
    assert found.stderr.splitlines()[-1] == ""


def test_a_reader_who_goes_away_ends_a_chat() -> None:
    code = f"{sys.executable} -m toolfmt chat | head -n 1"
    found = subprocess.run(["/bin/sh", "-c", code], capture_output=True, check=False, text=True, cwd=ROOT)
    assert (found.stdout.split()[0], found.stderr) == ("user", "")


_WITHOUT_EXTRAS = """
import sys, tomllib
from importlib.machinery import PathFinder
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
kept = {line.partition(">")[0] for line in (*project["cli"], *project["exec"])}
optional = {line.partition(">")[0].partition("[")[0] for extra in sys.argv[1].split() for line in project[extra]}
hidden = {name.replace("-", "_") for name in optional - kept - {"toolfmt"}} | {"opentelemetry"}

class Others(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path[:] = [Others if one is PathFinder else one for one in sys.meta_path]
from toolfmt.cli import main

for line in sys.stdin.read().splitlines():
    print("code", main(line.split()), flush=True)
"""


def without_extras(lines: list[str]) -> subprocess.CompletedProcess[str]:
    """Run commands in an environment that has the extra `cli` alone."""
    hidden = "mcp probe gateway bedrock store corpora tokens ray otel yaml"
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_EXTRAS, hidden],
        input="\n".join(lines),
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
    )


def test_every_command_has_help_without_the_other_extras() -> None:
    found = without_extras([f"{name} --help" for name in COMMANDS])
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.count("code 0") == len(COMMANDS)


def test_help_is_a_command_too() -> None:
    found = without_extras(["help", "help parse", "--help", "parse --help"])
    first, second, *others = found.stdout.split("code 0\n")[:4]
    assert [first, second] == others


_REFUSED = [
    ("convertt", "there is no command 'convertt'; did you mean 'convert'? `toolfmt --help` lists the commands"),
    ("help nothing", "there is no command 'nothing'; `toolfmt --help` lists the commands"),
    ("nothing", "there is no command 'nothing'; `toolfmt --help` lists the commands"),
    ("--verison", "there is no command '--verison'; did you mean '--version'? `toolfmt --help` lists the commands"),
    ("serve --upstream http://x", f"toolfmt serve needs an optional dependency: {install_line('gateway')}"),
    ("recorded x://y", f"toolfmt recorded needs an optional dependency: {install_line('store')}"),
    (
        "probe --base-url http://127.0.0.1:1 --model m",
        f"probing a server needs an optional dependency: {install_line('probe')}",
    ),
    ("mcp-serve --tools tools.py", f"MCP needs an optional dependency: {install_line('mcp')}"),
    ("stats README.md --tokenizer .", f"a tokenizer needs an optional dependency: {install_line('tokens')}"),
    (
        "convert --to gemini README.md -o x.parquet",
        f"writing x.parquet needs an optional dependency: {install_line('corpora')}",
    ),
    ("stats --jobs two", "--jobs takes a whole number, not 'two'"),
]


def test_what_cannot_run_is_said_in_one_line() -> None:
    found = without_extras([line for line, _ in _REFUSED])
    assert found.stderr.splitlines() == [f"toolfmt: {message}" for _, message in _REFUSED]
    assert found.stdout == "code 2\n" * len(_REFUSED)
