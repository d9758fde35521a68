"""Policies: each step, their order, and that nothing passes a step that can't decide."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any
from unicodedata import category

import anyio.lowlevel
import pytest
import regex

from toolfmt import ToolDefinition, ToolInvocation, ToolRegistry, ToolResult
from toolfmt.agents import Budget
from toolfmt.execution import (
    Approval,
    ApprovalRequest,
    Blocked,
    CertaintyPolicy,
    Executor,
    JsonPolicy,
    Permissions,
    ProjectBoundaries,
    ProvenancePolicy,
    RateLimit,
    SchemaPolicy,
    ToolExecution,
    Workspace,
)
from toolfmt.execution.events import PolicyChecked, ToolCallBlocked, ToolCallCompleted, ToolCallStarted
from toolfmt.execution.policies.approval import preview, show_invisible
from toolfmt.execution.policies.policy import ORDER
from toolfmt.execution.records import PolicyError
from toolfmt.tools import Injected


def call(name: str, /, agent: str | None = None, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments, agent=agent)


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def registry(ran: list[str]) -> ToolRegistry:
    registry = ToolRegistry()

    @registry.register
    def get(key: str = "") -> str:
        ran.append("get")
        return key

    @registry.register(dangerous=True)
    def delete(key: str = "") -> str:
        ran.append("delete")
        return key

    @registry.register
    def touch(path: Path | None = None, files: list[str] | None = None, note: str = "", spec: Any = None) -> object:
        ran.append("touch")
        return [path, files, note, spec]

    return registry


def failures(executor: Executor, *calls: ToolInvocation, **how: Any) -> list[str | None]:
    return [one.failure for one in executor.execute_sync(calls, **how)]


def test_the_order_of_the_steps_is_theirs_whatever_the_order_given(registry: ToolRegistry) -> None:
    events: list[object] = []

    def mine(*_: object) -> None:
        return None

    policies = [
        Approval(lambda _: True, tools=["*"]),
        mine,
        CertaintyPolicy(),
        ProvenancePolicy(),
        ProjectBoundaries(["/"]),
        Workspace("A"),
        RateLimit(5, per=1),
        Permissions({"*": ["*"]}),
        SchemaPolicy(),
        JsonPolicy(),
    ]
    executor = Executor(registry, policies=policies, on_event=events.append)
    executor.execute_sync([call("get")], {"workspace": "A"})
    steps = [event.policy for event in events if isinstance(event, PolicyChecked)]
    assert [step if step != "mine" else "custom" for step in steps] == list(ORDER)
    assert [type(event) for event in events[-2:]] == [ToolCallStarted, ToolCallCompleted]


def test_a_step_that_fails_ends_the_enforcement(registry: ToolRegistry, ran: list[str]) -> None:
    events: list[object] = []
    policies = [RateLimit(0, per=1), Permissions({"A": ["get"]}), SchemaPolicy(), JsonPolicy()]
    executor = Executor(registry, policies=policies, on_event=events.append)
    (execution,) = executor.execute_sync([call("get")], agent="B")
    assert (execution.failure, execution.blocked, ran) == ("denied", True, [])
    assert [(event.policy, bool(event.error)) for event in events if isinstance(event, PolicyChecked)] == [
        ("permissions", True)
    ]
    assert isinstance(events[-1], ToolCallBlocked)
    events.clear()
    (wrong,) = executor.execute_sync([call("get", key=1)], agent="A")
    assert wrong.failure == "invalid_arguments"
    assert [problem.pointer for problem in wrong.problems] == ["/key"]
    assert [event.policy for event in events if isinstance(event, PolicyChecked)] == ["permissions", "json", "schema"]


def test_a_call_that_cannot_run_is_put_before_nobody(registry: ToolRegistry) -> None:
    asked: list[object] = []
    executor = Executor(registry, policies=[Approval(asked.append, tools=["*"]), RateLimit(1, per=60)])
    assert failures(executor, call("get", key=1), call("got"), call("get")) == [
        "invalid_arguments",
        "unknown_tool",
        "rejected",
    ]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("agent", "claimed", "name", "allowed"),
    [
        ("Analyst", None, "get", True),
        ("Analyst", None, "delete", False),
        (None, None, "get", False),
        ("Other", None, "get", False),
        (None, "Analyst", "get", True),
        ("Other", "Analyst", "get", False),
        ("Root", "Analyst", "delete", False),
        ("Root", None, "delete", True),
        ("Root", None, "touch", False),
    ],
)
def test_permissions(  # noqa: PLR0913, PLR0917 - fixtures and columns
    registry: ToolRegistry,
    ran: list[str],
    agent: str | None,
    claimed: str | None,
    name: str,
    allowed: bool,  # noqa: FBT001 - a column
) -> None:
    permissions = Permissions({"Analyst": ["g*"], "Ro?t": ["*"]}, deny={"*": ["touch"]})
    executor = Executor(registry, policies=[permissions])
    (execution,) = executor.execute_sync([call(name, claimed)], agent=agent)
    assert (execution.failure, ran) == ((None, [name]) if allowed else ("denied", []))
    assert execution.result.agent == execution.call.agent == (claimed or agent)


def test_without_allow_everything_is_allowed_that_is_not_denied(registry: ToolRegistry) -> None:
    executor = Executor(registry, policies=[Permissions(deny={"*": ["delete"]})])
    assert failures(executor, call("get"), call("delete")) == [None, "denied"]
    with pytest.raises(TypeError, match=r"allow= must be a dict.*such as"):
        Permissions(["get"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not 'get': put brackets around it"):
        Permissions({"*": "get"})


def test_a_name_fits_itself_whatever_is_in_it() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="get[1]")
    it = call("get[1]")
    for policy, agent in (
        (Permissions(deny={"bot[1]": ["*"]}), "bot[1]"),
        (Permissions(deny={"*": ["get[1]"]}), None),
        (Permissions({"bot[1]": ["get_*"]}), "bot[1]"),
        (Approval(lambda _: False, tools=["get[1]"]), None),
        (RateLimit({"get[1]": 0}, per=60), None),
        (RateLimit(0, per=60, agents="bot[1]"), "bot[1]"),
    ):
        (execution,) = Executor(registry, policies=[policy]).execute_sync([it], agent=agent)
        assert execution.blocked
    (execution,) = Executor(registry, policies=[Permissions({"bot[1]": ["get[1]"]})]).execute_sync([it], agent="bot[1]")
    assert execution.value == 1


def test_a_tool_of_a_server_is_denied_as_one_though_a_function_runs_it() -> None:
    registry = ToolRegistry()
    registry.register(ToolDefinition(name="read", server="files"), function=lambda: 1)
    executor = Executor(registry, policies=[Permissions(deny={"*": ["files/*"]})])
    assert failures(executor, call("read")) == ["denied"]


def test_a_rate_limit_slides_and_counts_for_each_agent_and_tool(registry: ToolRegistry) -> None:
    now = [0.0]
    executor = Executor(registry, policies=[RateLimit({"g*": 2}, per=10, clock=lambda: now[0])])

    def run(name: str, agent: str, at: float) -> str | None:
        now[0] = at
        return failures(executor, call(name), agent=agent)[0]

    assert [run("get", "a", 0), run("get", "a", 6), run("get", "a", 9.9)] == [None, None, "rate_limited"]
    assert [run("get", "b", 9.9), run("delete", "a", 9.9)] == [None, None]
    assert [run("get", "a", 10), run("get", "a", 15.9), run("get", "a", 16)] == [None, "rate_limited", None]


def test_a_rate_limit_forgets_only_those_who_have_not_called_in_the_period(
    registry: ToolRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolfmt.execution.policies.rate_limit._KEPT", 1)
    now = [0.0]
    executor = Executor(registry, policies=[RateLimit(2, per=10, clock=lambda: now[0])])

    def run(agent: str, at: float) -> str | None:
        now[0] = at
        return failures(executor, call("get"), agent=agent)[0]

    assert [run("a", 0), run("b", 0), run("a", 8)] == [None, None, None]
    assert [run("a", 11), run("a", 11), run("b", 11)] == [None, "rate_limited", None]


def test_a_rate_limit_holds_side_by_side(registry: ToolRegistry, ran: list[str]) -> None:
    executor = Executor(registry, policies=[RateLimit(7, per=60)])
    found = failures(executor, *[call("get")] * 50)
    assert found == [None] * 7 + ["rate_limited"] * 43
    assert len(ran) == 7


@pytest.mark.parametrize(
    ("policy", "state", "extra", "failure"),
    [
        (Workspace("A"), {"workspace": "A"}, {}, None),
        (Workspace("A"), {"workspace": "B"}, {}, "workspace_mismatch"),
        (Workspace("A"), None, {"workspace": "A"}, None),
        (Workspace("A"), None, {"workspace": "B"}, "workspace_mismatch"),
        (Workspace("A"), {"workspace": "A"}, {"workspace": "B"}, "workspace_mismatch"),
        (Workspace("A"), None, {}, "workspace_mismatch"),
        (Workspace(), {"workspace": "A"}, {}, None),
        (Workspace(), None, {"workspace": "A"}, "workspace_mismatch"),
        (Workspace("k", argument="key"), None, {}, None),
        (Workspace("A", argument="key"), {"workspace": "A"}, {}, "workspace_mismatch"),
    ],
)
def test_a_workspace_is_kept(
    registry: ToolRegistry, policy: Workspace, state: object, extra: dict[str, Any], failure: str | None
) -> None:
    executor = Executor(registry, policies=[policy])
    one = ToolInvocation(name="get", arguments={"key": "k"}, extra=extra)
    assert failures(executor, one, state=state) == [failure]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to(root / "src")
    (root / "loop").symlink_to(root / "loop")
    return root


INSIDE = ["src/a.py", "new/deep/file", ".", "src/../src", "in/x", "", "a\\b", "a b", "./~x", "$", "*.py"]
OUTSIDE = [
    "..",
    "../project2",
    "src/../../x",
    "/etc/passwd",
    " /etc/passwd",
    "out/x",
    "out",
    "in/../../x",
    "loop/x",
    "~/x",
    "~root/x",
    "$HOME/x",
    "..\\..\\x",
    "src\\..\\..\\x",
    "C:\\Windows",
    "c:/x",
    "\\\\server\\share",
    "//server/share",
    "file:///etc/passwd",
    "file://elsewhere/x",
    "file:/etc/passwd",
    "FILE:///%2e%2e/x",
    "file:../x",
    "file:%2e%2e/x",
    "\x01 file:///etc/passwd",
    "fi\tle:///etc/passwd",
    "%2e%2e/x",
    "src/%00",
    "a\0b",
]


@pytest.mark.skipif(os.name == "nt", reason="these are the paths of other systems")
@pytest.mark.parametrize("path", [*INSIDE, "{root}/src", "file://{root}/src", "file://localhost{root}/a%20b"])
def test_paths_inside_a_project(registry: ToolRegistry, project: Path, path: str) -> None:
    path = path.replace("{root}", str(project))
    executor = Executor(registry, policies=[ProjectBoundaries([project])])
    (execution,) = executor.execute_sync([call("touch", path=path, files=[path])])
    assert execution.failure is None, execution.error


@pytest.mark.skipif(os.name == "nt", reason="these are the paths of other systems")
@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("place", ["path", "files", "nested"])
def test_paths_outside_a_project(  # noqa: PLR0913, PLR0917 - fixtures and columns
    registry: ToolRegistry, ran: list[str], project: Path, path: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    arguments: dict[str, Any] = {"path": path}
    if place == "files":
        arguments = {"files": ["src/a.py", path]}
    elif place == "nested":
        arguments = {"spec": [{"deep": {"output_dir": [path]}}]}
    executor = Executor(registry, policies=[ProjectBoundaries([project])])
    assert failures(executor, call("touch", **arguments)) == ["outside_project"]
    assert ran == []


def test_what_an_argument_is_called_decides_nothing(registry: ToolRegistry, project: Path) -> None:
    executor = Executor(
        registry, policies=[ProjectBoundaries([project], parameters={"touch": ["spec"]}, text={"touch": ["note"]})]
    )
    assert failures(
        executor,
        call("touch", files=["/etc/passwd"]),
        call("touch", note="/etc/passwd"),
        call("touch", note="file:///etc/passwd"),
        call("touch", spec="/etc/passwd"),
        call("touch", spec=3),
        call("touch", spec={"file": 3, "note": "/x"}),
    ) == ["outside_project", None, "outside_project", "outside_project", "outside_project", "outside_project"]
    with pytest.raises(ValueError, match="at least one folder"):
        ProjectBoundaries([])


NAMES = ["path", "file1", "img_path1", "pathname", "logfile", "outfile", "location", "root", "savePathTo", "x", "Ziel"]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_one_under_any_name(registry: ToolRegistry, project: Path, name: str) -> None:
    executor = Executor(registry, policies=[ProjectBoundaries([project])])
    assert failures(executor, call("touch", spec={name: "../x"}), call("touch", spec={name: "x"})) == [
        "outside_project",
        None,
    ]


def test_the_log_says_how_to_allow_a_refused_text(
    registry: ToolRegistry, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (execution,) = Executor(registry, policies=[ProjectBoundaries([project])]).execute_sync([call("touch", note="/x")])
    assert execution.error == "/note: '/x' is outside the project; use a path inside it"
    assert "if it is text: ProjectBoundaries(..., text={'touch': ['note']})" in caplog.text


def test_the_schema_says_what_is_no_path(project: Path) -> None:
    properties = {
        "pattern": {"type": "string", "format": "regex"},
        "command": {"enum": ["/help", "/start"]},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "where": {"type": "string", "format": "path"},
        "free": {"type": "string"},
    }
    registry = ToolRegistry()
    registry.register({"name": "f", "parameters": {"properties": properties}}, function=lambda **_: None)
    executor = Executor(registry, policies=[ProjectBoundaries([project])])
    fine: list[dict[str, Any]] = [
        *({"pattern": "/a"}, {"command": "/help"}, {"day": "2026-01-01"}, {"where": "a\\b"}),
        *({"free": text} for text in ("", "Paris", "and/or", "a: b", "Q: why?", "https://x.org/a/../../../b?c=/d")),
        *({"free": text} for text in ("50 %", "~100 items", "# Title\n\n/* text */", "\\d+\\.", "12:30", "to:a@b.c")),
    ]
    refused: list[dict[str, Any]] = [
        *(
            {"pattern": "file:///x"},
            {"day": "/1"},
            {"where": "C:x"},
            {"free": "/help"},
            {"free": "C:\\x"},
            {"free": "\\\\server\\x"},
        )
    ]
    assert failures(executor, *(call("f", **one) for one in fine)) == [None] * len(fine)
    assert failures(executor, *(call("f", **one) for one in refused)) == ["outside_project"] * len(refused)


def test_keys_are_paths_too(project: Path) -> None:
    def write(files: dict[str, str], by_path: dict[Path, str] | None = None, spec: Any = None) -> object:
        return [files, by_path, spec]

    registry = ToolRegistry([write])
    executor = Executor(registry, policies=[ProjectBoundaries([project], parameters={"write": ["spec"]})])
    inside, outside = {"src/a.py": "x"}, {"src/a.py": "x", "../x": "y"}
    given: list[dict[str, Any]] = [
        {"files": outside},
        {"files": {}, "by_path": outside},
        {"files": {}, "spec": outside},
        {"files": {}, "spec": [{"file:///etc/passwd": 1}]},
    ]
    for arguments in given:
        assert failures(executor, call("write", **arguments)) == ["outside_project"]
    assert failures(executor, call("write", files=inside, by_path=inside, spec=inside)) == [None]


def test_dangerous_tools_refuse_weak_marks_unless_allowed(registry: ToolRegistry) -> None:
    marks = ("api", "marker", "fenced", "bare")
    calls = [ToolInvocation(name="delete", provenance=mark) for mark in marks]
    refused = "weak_provenance"
    assert failures(Executor(registry), *calls) == [None, None, refused, refused]
    assert failures(Executor(registry), *[call.model_copy(update={"name": "get"}) for call in calls]) == [None] * 4
    assert failures(Executor(registry, policies=[ProvenancePolicy(refuse=())]), *calls) == [None] * 4
    assert failures(Executor(registry, policies=[ProvenancePolicy(refuse=["marker"])]), *calls) == [
        None,
        refused,
        None,
        None,
    ]


def test_dangerous_tools_refuse_guessed_calls_unless_a_policy_says_otherwise(registry: ToolRegistry) -> None:
    degrees = ("exact", "tolerated", "guessed")
    calls = [ToolInvocation(name="delete", certainty=degree) for degree in degrees]
    refused = "uncertain"
    assert failures(Executor(registry), *calls) == [None, None, refused]
    assert failures(Executor(registry), *[call.model_copy(update={"name": "get"}) for call in calls]) == [None] * 3
    assert failures(Executor(registry, policies=[CertaintyPolicy(refuse=())]), *calls) == [None] * 3
    assert failures(Executor(registry, policies=[CertaintyPolicy(refuse=["tolerated"])]), *calls) == [
        None,
        refused,
        None,
    ]
    assert failures(Executor(registry, policies=[ProvenancePolicy(refuse=())]), *calls) == [None, None, refused]


def test_what_is_approved_is_what_runs(registry: ToolRegistry) -> None:
    asked: list[ApprovalRequest] = []

    def rewrite(call: ToolInvocation, _: object) -> ToolInvocation:
        return call.model_copy(update={"arguments": {"key": call.arguments["key"].upper()}})

    def decide(request: ApprovalRequest) -> bool | str:
        asked.append(request)
        return request.call.arguments["key"] != "NO" or "no means no"

    executor = Executor(registry, before=[rewrite], policies=[Approval(decide)])
    executions = executor.execute_sync([call("delete", key="yes"), call("delete", key="no"), call("get", key="x")])
    assert [one.failure for one in executions] == [None, "rejected", None]
    assert executions[0].value == "YES"
    assert [request.preview for request in asked] == ['delete {\n  "key": "YES"\n}', 'delete {\n  "key": "NO"\n}']
    assert "no means no" in executions[1].error


@pytest.mark.parametrize("answer", [False, None, "", "why not", 1, "yes", object()])
def test_only_true_approves(registry: ToolRegistry, ran: list[str], answer: Any) -> None:
    async def decide(_: ApprovalRequest) -> Any:
        return answer

    executor = Executor(registry, policies=[Approval(decide)])
    assert failures(executor, call("delete")) == ["rejected"]
    assert ran == []


def test_what_was_checked_is_what_runs_whatever_a_policy_does_to_it(registry: ToolRegistry) -> None:
    class Server:
        tools = (ToolDefinition(name="far", parameters={"type": "object", "additionalProperties": {"type": "string"}}),)

        async def call(self, call: ToolInvocation, *, injected: Mapping[str, Any]) -> ToolResult:
            assert injected
            call.arguments["here"] = "too"
            return ToolResult(name="far", content=call.arguments["key"])

    def spoil(call: ToolInvocation, _: object) -> None:
        call.arguments["key"] = 1

    def approve(request: ApprovalRequest) -> bool:
        request.call.arguments["key"] = 2
        return True

    executor = Executor(registry, servers={"s": Server()}, policies=[spoil, Approval(approve, tools=["*"])])
    for execution in executor.execute_sync([call("get", key="a"), call("far", key="a")]):
        assert (execution.value, execution.arguments) == ("a", {"key": "a"})


def test_a_preview_hides_nothing() -> None:
    text = "rm \u202etxt.x \u200b\x1b[2J\u2028\r\n\x9b\U000e0041 \\N{X}"
    shown = preview(ToolInvocation(name="s\u3164h", arguments={"cmd": text, "ok": "Grüße, 世界 e\u0301 👍"}))
    assert shown == (
        "s\\N{HANGUL FILLER}h {\n"
        '  "cmd": "rm \\N{RIGHT-TO-LEFT OVERRIDE}txt.x \\N{ZERO WIDTH SPACE}\\u001b[2J\\N{LINE SEPARATOR}\\r\\n\\u009b'
        '\\N{TAG LATIN CAPITAL LETTER A} \\\\N{X}",\n'
        '  "ok": "Grüße, 世界 e\u0301 👍"\n}'
    )


IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
ISSUED = [0x3164, 0x115F, 0x1160, 0xFFA0, 0x2800, 0xFE0F, 0x034F, 0x17B4, 0x1D159, 0x16FE4, 0xA0, 0x3000, 0x1680]


def test_no_character_that_is_not_seen_is_shown_as_it_is() -> None:
    """A character is shown as it is only if it is a letter, mark, number, sign or plain space that is not ignorable."""
    raw = {code for code in range(0x20, 0x110000) if show_invisible(chr(code)) == chr(code)}
    assert raw.isdisjoint(ISSUED)
    assert {category(chr(code))[0] for code in raw - {0x20}} == {"L", "M", "N", "P", "S"}
    assert not any(regex.match(r"[\p{Mn}\p{Me}]", chr(code)) for code in raw)
    assert not any(IGNORABLE.match(chr(code)) for code in raw)
    assert set(range(0x20, 0x7F)) <= raw
    assert show_invisible("\u3164") == r"\N{HANGUL FILLER}"
    assert show_invisible("\u2800") == r"\N{BRAILLE PATTERN BLANK}"


@pytest.mark.parametrize(
    "text",
    [
        "r\u0301sume\u0301",
        "\u05e9\u05c1\u05bc\u05b8\u0591x",
        "\u0e17\u0e35\u0e48",
        "\u0915\u094d\u0937\u093f\u0902",
        "Vie\u0302\u0323t",
    ],
)
def test_marks_on_letters_are_shown_as_they_are(text: str) -> None:
    assert show_invisible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/\u0338etc", r"/\N{COMBINING LONG SOLIDUS OVERLAY}etc"),
        ("x\u0336\u0301y", r"x\N{COMBINING LONG STROKE OVERLAY}\N{COMBINING ACUTE ACCENT}y"),
        ("1\u0301", r"1\N{COMBINING ACUTE ACCENT}"),
        ("a\u20e0", r"a\N{COMBINING ENCLOSING CIRCLE BACKSLASH}"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + r"\N{COMBINING ACUTE ACCENT}" * 2),
    ],
)
def test_marks_that_cover_other_characters_are_shown_by_name(text: str, shown: str) -> None:
    assert show_invisible(text) == shown
    call = ToolInvocation(name="f", arguments={text: text})
    assert preview(call) == f'f {{\n  "{shown}": "{shown}"\n}}'


@pytest.mark.parametrize("server", [None, "s\nYes, approved\n"])
def test_a_name_begins_no_line_of_a_preview(server: str | None) -> None:
    call = ToolInvocation(name='ls {}\n\nrm "\\', arguments={"path": "a\nb"}, server=server)
    first, *others = preview(call).split("\n")
    assert first.endswith('ls {}\\n\\nrm \\"\\\\ {')
    assert others == ['  "path": "a\\nb"', "}"]


def test_nobody_answers_or_asking_fails(registry: ToolRegistry, ran: list[str]) -> None:
    async def silent(_: ApprovalRequest) -> bool:
        await anyio.sleep_forever()
        return True

    def broken(_: object) -> Any:
        raise ValueError("no terminal")

    def run(approval: Approval) -> ToolExecution:
        return Executor(registry, policies=[approval]).execute_sync([call("delete")])[0]

    late = run(Approval(silent, timeout=0.01))
    assert (late.failure, "no answer within 0.01 s" in late.error) == ("rejected", True)
    assert "asking failed: ValueError" in run(Approval(broken)).error
    unseen = run(Approval(lambda _: True, preview=broken))
    assert (unseen.failure, "could not be shown" in unseen.error) == ("rejected", True)
    assert ran == []


@pytest.mark.parametrize("answer", ["yes", None, 1])
def test_an_answer_that_decides_nothing_is_logged_and_the_model_can_go_on(
    registry: ToolRegistry, ran: list[str], caplog: pytest.LogCaptureFixture, answer: Any
) -> None:
    (found,) = Executor(registry, policies=[Approval(lambda _: answer)]).execute_sync([call("delete")])
    assert (ran, found.failure) == ([], "rejected")
    assert found.error == (
        "'delete' was rejected: the program got no usable decision on it: "
        "calling again does not help, so go on without it"
    )
    (record,) = caplog.records
    assert record.exc_info is not None
    assert "return True to approve" in str(record.exc_info[1])


def test_questions_are_asked_one_at_a_time(registry: ToolRegistry) -> None:
    open_now = 0

    async def decide(_: ApprovalRequest) -> bool:
        nonlocal open_now
        open_now += 1
        await anyio.lowlevel.checkpoint()
        alone = open_now == 1
        open_now -= 1
        return alone

    calls = [call("delete")] * 5
    assert failures(Executor(registry, policies=[Approval(decide)]), *calls) == [None] * 5
    assert "rejected" in failures(Executor(registry, policies=[Approval(decide, together=True)]), *calls)


def test_who_cannot_decide_lets_nothing_pass(registry: ToolRegistry, ran: list[str]) -> None:
    def broken(*_: object) -> Any:
        raise KeyError("x")

    def odd(*_: object) -> Any:
        return True

    def polite(*_: object) -> Any:
        raise PolicyError("please not", "rejected")

    def unknown(*_: object) -> Any:
        return Blocked("no", "refused")  # pyright: ignore[reportArgumentType]

    class Guarding:
        def refuse(self, _: ToolInvocation, /) -> Any:
            return True

        def record(self, _: ToolExecution, /) -> None: ...

    policies = (broken, odd, polite, unknown)
    found = [failures(Executor(registry, policies=[policy]), call("get"))[0] for policy in policies]
    assert (found, ran) == (["hook_failed", "hook_failed", "rejected", "hook_failed"], [])
    assert failures(Executor(registry, guards=[Guarding()]), call("get")) == ["hook_failed"]
    with pytest.raises(TypeError, match=r"such as Permissions\(...\)"):
        Executor(registry, policies=[Permissions])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": [lambda _: None]}, "the policy <lambda>.* is called with (call, context): too many positional"),
        ({"before": [lambda _: None]}, "the before-hook .* is called with (call, context)"),
        ({"after": [3]}, "after[0] must be a function, not 3"),
        ({"policies": [SimpleNamespace(step="aproval", check=lambda _: None)]}, "did you mean 'approval'?"),
        ({"policies": [SimpleNamespace(step="audit", check=lambda: None)]}, "is called with (candidate)"),
    ],
)
def test_misuse_is_refused_when_the_executor_is_made(
    registry: ToolRegistry, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(message).replace(r"\.\*", ".*")):
        Executor(registry, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"policies": [Approval(tools=["tuch"])]},
        {"policies": [Approval(tools=["tuch_*", "touch"])]},
        {"policies": [Permissions(deny={"*": ["tuch"]})]},
        {"policies": [RateLimit({"tuch": 1}, per=1)]},
        {"policies": [ProjectBoundaries(["/srv"], parameters={"tuch": ["path"]})]},
        {"policies": [ProjectBoundaries(["/srv"], text={"touch_all": ["spc"]})]},
        {"policies": [Workspace(argument="spc")]},
        {"guards": [Budget(per_tool={"tuch": 1})]},
        {"timeouts": {"tuch": 1}},
        {"inject": {"api_kee": "s"}},
    ],
)
def test_a_name_that_is_misspelt_is_refused_where_the_tools_are_known(options: dict[str, Any]) -> None:
    tools = ToolRegistry()

    @tools.register
    def touch(spec: str) -> str: ...

    @tools.register
    def touch_all(spec: str, api_key: Annotated[str, Injected] = "") -> str: ...

    @tools.register
    def ad() -> str: ...

    with pytest.raises(ValueError, match=r"no (tool|argument|parameter) is called .* did you mean"):
        Executor(tools, **options)


def test_a_name_of_no_tool_is_warned_of_and_a_pattern_may_match_nothing(registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="did you mean 'get'"):
        Executor(registry, policies=[Approval(tools=["gett"])])
    with pytest.warns(UserWarning, match="Approval: no tool is called 'remove', so it has no effect; the tools are "):
        Executor(registry, policies=[Approval(tools=["remove"])])
    Executor(registry, policies=[Permissions(deny={"*": ["*.delete", "admin_*"]})])


def test_names_of_a_servers_tools_are_checked_before_calls_run() -> None:
    class Server:
        tools = (ToolDefinition(name="add"),)

        async def call(self, call: ToolInvocation, *, injected: object) -> ToolResult:
            raise AssertionError(call, injected)

    executor = Executor(ToolRegistry(), servers={"sums": Server()}, policies=[Approval(tools=["ad"])])
    with pytest.raises(ValueError, match="Approval: no tool is called 'ad'; did you mean 'add'"):
        executor.execute_sync([call("add")])
    Executor(ToolRegistry(), servers={"sums": Server()}, policies=[Approval(tools=["sums/add"])]).execute_sync([])


def test_a_policy_that_could_not_work_is_not_made() -> None:
    with pytest.raises(TypeError, match="not 'get': put brackets around it"):
        Approval(lambda _: True, tools="get")
    with pytest.raises(TypeError, match=r"decide= must be a function or None, not True"):
        Approval(True)  # noqa: FBT003  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="is called with"):
        Approval(lambda: True)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="did you mean 'rejected'"):
        Blocked("no", "reject")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="a rate must be at least 0 calls"):
        RateLimit(1, per=0)
    with pytest.raises(TypeError, match="roots= must be an iterable, not '/srv': put brackets around it"):
        ProjectBoundaries("/srv")


@pytest.mark.parametrize("answer", ["yes", "Y ", "true", "OK", None, 1])
def test_only_true_approves_and_the_log_says_so(
    registry: ToolRegistry, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    executor = Executor(registry, policies=[Approval(lambda _: answer)])
    (execution,) = executor.execute_sync([call("delete")])
    assert execution.failure == "rejected"
    assert "return True to approve, and False or a reason to reject" in caplog.text


def test_arguments_that_are_no_json_are_the_first_to_go(registry: ToolRegistry, ran: list[str]) -> None:
    executor = Executor(registry, policies=[SchemaPolicy(), JsonPolicy()])
    (execution,) = executor.execute_sync([call("touch", spec={1, 2})])
    assert (execution.failure, ran) == ("invalid_arguments", [])
    assert execution.error == "the arguments are not JSON: /spec: set is not a JSON value"


def test_a_policy_that_decides_about_a_call_replaces_the_protections(registry: ToolRegistry) -> None:
    doubtful = [
        ToolInvocation(name="delete", arguments={"key": "x"}, provenance="fenced"),
        ToolInvocation(name="delete", arguments={"key": "x"}, provenance="bare"),
        ToolInvocation(name="delete", arguments={"key": "x"}, certainty="guessed"),
    ]
    shown: list[str] = []

    def approve(request: ApprovalRequest) -> bool:
        shown.append(request.preview.splitlines()[-1])
        return True

    assert failures(Executor(registry, policies=[Approval(approve)]), *doubtful) == [None] * 3
    assert [line.partition(":")[0] for line in shown] == [
        "The model wrote this call in a code fence",
        "The model wrote this call in its text without a marker",
        "The call was not written exactly",
    ]
    assert failures(Executor(registry, policies=[Approval()]), *doubtful) == ["waiting"] * 3
    refused = ["weak_provenance", "weak_provenance", "uncertain"]
    assert failures(Executor(registry, policies=[Approval(approve, tools=["get"])]), *doubtful) == refused
    assert failures(Executor(registry, policies=[lambda _call, _context: None]), *doubtful) == refused
    listed = [Approval(approve), ProvenancePolicy(), CertaintyPolicy()]
    assert failures(Executor(registry, policies=listed), *doubtful) == refused
    allowed = Executor(registry, policies=[ProvenancePolicy(allow=["del*"])])
    assert failures(allowed, *doubtful) == [None, None, "uncertain"]
    other = Executor(registry, policies=[ProvenancePolicy(allow=["get"])])
    assert failures(other, *doubtful) == refused
