"""The Berkeley Function Calling Leaderboard's data: real function documents, and the calls that answer questions.

The data come as a wheel from the package index that pip is set up with. It is
opened as an archive, never installed, and kept in a cache folder.

In a ground truth an argument has a list of allowed values; `""` in it says that
the argument may be left out:

    {"ride.book": {"seats": [2], "note": ["", "window"]}}      seats=2, note="window"
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import toolfmt

VERSION = "2026.3.23"  # pinned, so that the counts in the tests hold
DATA = "bfcl_eval/data/"
MULTI_TURN_DOCUMENTS = "multi_turn_func_doc/"


class NotReachableError(Exception):
    """The wheel is neither in the cache nor to be had from an index; the message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question's tools, and the calls that answer it."""

    id: str
    tools: tuple[toolfmt.ToolDefinition, ...]
    calls: tuple[toolfmt.ToolInvocation, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """All that the wheel holds for us: each function document and each case once, however often they are repeated."""

    documents: tuple[toolfmt.ToolDefinition, ...]
    cases: tuple[Case, ...]


def load() -> Data:
    """Read the wheel, fetched first where need be; raises `NotReachableError`."""
    with ZipFile(wheel()) as archive:
        return _Reader(archive).data()


def wheel() -> Path:
    """Where the wheel is; raises `NotReachableError`."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolfmt" / "bfcl"
    name = f"bfcl_eval-{VERSION}-py3-none-any.whl"
    if not (cache / name).exists():
        cache.mkdir(parents=True, exist_ok=True)
        # Into a folder of its own and moved when it is whole: another process may be fetching it too.
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            _download(folder)
            Path(folder, name).replace(cache / name)
    return cache / name


def _download(folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=20", f"--dest={folder}"]
    ran = subprocess.run([*command, f"bfcl-eval=={VERSION}"], capture_output=True, text=True, check=False)
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise NotReachableError(f"bfcl-eval {VERSION} is not to be had from a package index: {last}")


class _Reader:
    """Reads the archive; equal function documents become one tool."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._tools: dict[str, toolfmt.ToolDefinition] = {}

    def data(self) -> Data:
        names = [name.removeprefix(DATA) for name in self._archive.namelist() if name.startswith(DATA)]
        questions = [name for name in names if name.startswith("BFCL_") and "format_sensitivity" not in name]
        tools = {record["id"]: self._offered(record) for name in questions for record in self._lines(name)}
        documented = [name for name in names if name.startswith(MULTI_TURN_DOCUMENTS)]
        functions = {document["name"]: document for name in documented for document in self._lines(name)}
        for document in (document for name in documented for document in self._lines(name)):
            self._tool(document)
        truths = [name for name in names if name.startswith("possible_answer/")]
        cases: dict[str, Case] = {}
        for record in (record for name in truths for record in self._lines(name)):
            for case in self._cases(record, tools, functions):
                cases.setdefault(repr(([id(tool) for tool in case.tools], case.calls)), case)
        return Data(tuple(self._tools.values()), tuple(cases.values()))

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        return map(json.loads, self._archive.read(DATA + name).decode().splitlines())

    def _offered(self, record: dict[str, Any]) -> tuple[toolfmt.ToolDefinition, ...]:
        return tuple(map(self._tool, record.get("function", ())))

    def _tool(self, document: dict[str, Any]) -> toolfmt.ToolDefinition:
        text = json.dumps(document, sort_keys=True)
        if text not in self._tools:
            self._tools[text] = toolfmt.tool(document)
        return self._tools[text]

    def _cases(
        self,
        record: dict[str, Any],
        tools: dict[str, tuple[toolfmt.ToolDefinition, ...]],
        functions: dict[str, dict[str, Any]],
    ) -> Iterator[Case]:
        """The case of a record, one for each turn where there are several; none where the answer is in words."""
        truth = record["ground_truth"]
        if all(isinstance(call, dict) for call in truth):
            yield Case(record["id"], tools[record["id"]], tuple(_call(call, tools[record["id"]]) for call in truth))
        for number, turn in enumerate(truth):
            if isinstance(turn, list) and turn:
                calls = tuple(_python_call(text, functions) for text in turn)
                offered = {call.name: self._tool(functions[call.name]) for call in calls}
                yield Case(f"{record['id']}/{number}", tuple(offered.values()), calls)


def _call(truth: dict[str, Any], tools: tuple[toolfmt.ToolDefinition, ...]) -> toolfmt.ToolInvocation:
    ((name, arguments),) = truth.items()
    (tool,) = [tool for tool in tools if tool.name == name]
    required = tool.parameters.get("required", ())
    return toolfmt.ToolInvocation(name=name, arguments=_chosen(arguments, required))


def _chosen(allowed: dict[str, Any], required: list[str] | tuple[str, ...] = ()) -> dict[str, Any]:
    """Take the first real value of each argument; one without is left out unless it must be there."""
    chosen: dict[str, Any] = {}
    for key, values in allowed.items():
        options = values if isinstance(values, list) else [values]
        found = [value for value in options if value != ""] or (options if key in required else [])
        if found:
            chosen[key] = _nested(found[0])
    return chosen


def _nested(value: Any) -> Any:
    """An object inside a value again has a list of allowed values for each key."""
    if isinstance(value, dict):
        return _chosen(value)
    return [_nested(item) for item in value] if isinstance(value, list) else value


def _python_call(text: str, functions: dict[str, dict[str, Any]]) -> toolfmt.ToolInvocation:
    """Read `cd(folder='documents')`; arguments without a name are named in the order of the documentation."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    names = list(functions[name]["parameters"]["properties"])
    arguments = dict(zip(names, call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    return toolfmt.ToolInvocation(
        name=name, arguments={key: ast.literal_eval(value) for key, value in arguments.items()}
    )
