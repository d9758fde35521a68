"""Calls that wait: for approval, for a result from elsewhere, or because the program ended while they ran."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.execution.models import Api, Texts, said
from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, NativeDriver, TextDriver
from toolfmt.agents.waiting import Answered, Approved, Denied
from toolfmt.errors import DeferredCall
from toolfmt.execution import Approval, Executor
from toolfmt.execution.events import ToolCallBlocked, ToolCallCompleted

ROOT = Path(__file__).resolve().parents[2]


def toolbox() -> tuple[ToolRegistry, list[str]]:
    registry, ran = ToolRegistry(), list[str]()

    @registry.register
    def read(path: str) -> str:
        """Read a file."""
        ran.append(f"read {path}")
        return f"what is in {path}"

    @registry.register(dangerous=True)
    def delete(path: str) -> str:
        """Delete a file."""
        ran.append(f"delete {path}")
        return f"deleted {path}"

    @registry.register
    def ask_boss(question: str) -> str:
        """Ask the boss."""
        ran.append(f"ask {question}")
        raise DeferredCall(f"ticket for {question!r}")

    return registry, ran


def call(name: str, **arguments: object) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def loop(model: Any, registry: ToolRegistry, **options: Any) -> AgentLoop:
    executor = Executor(registry, policies=[Approval()])
    return AgentLoop(TextDriver(model, dialect="hermes"), executor=executor, **options)


def stored(state: AgentState) -> AgentState:
    """Send a state to another machine."""
    return AgentState.from_json(json.loads(json.dumps(state.to_json())))


ANSWER = call("read", path="/a") + call("delete", path="/b") + call("read", path="/c") + call("delete", path="/d")


def test_a_run_waits_in_its_state_and_goes_on_elsewhere() -> None:
    registry, ran = toolbox()
    model = Texts(ANSWER, "Done.")
    state = loop(model, registry).run_sync("Clean up.")
    assert (state.status, sorted(ran), len(model.chats)) == ("waiting", ["read /a", "read /c"], 1)  # side by side
    assert [(one.call.arguments["path"], one.why, one.at) for one in state.pending] == [
        ("/b", "approval", 1),
        ("/d", "approval", 3),
    ]
    there = stored(state)
    assert there == state
    first, second = there.pending
    after = loop(model, registry).run_sync(state=there, decisions={first.id: Approved(), second.id: Denied("keep it")})
    assert (after.status, after.text) == ("completed", "Done.")
    assert ran[2:] == ["delete /b"]
    (results,) = [message for message in after.messages if message.role == "tool"]
    assert [(part.name, part.is_error) for part in results.parts] == [  # type: ignore[union-attr]
        ("read", False),
        ("delete", False),
        ("read", False),
        ("delete", True),
    ]
    told = model.chats[1][-1]["content"]
    assert told.index("what is in /a") < told.index("deleted /b") < told.index("what is in /c") < told.index("keep it")
    assert len(model.chats) == 2


def test_a_decision_may_change_the_arguments_and_come_one_by_one() -> None:
    registry, ran = toolbox()
    model = Texts(ANSWER, "Done.")
    state = loop(model, registry).run_sync("Clean up.")
    first, second = state.pending
    half = loop(model, registry).run_sync(state=stored(state), decisions={second.id: Approved({"path": "/new/d"})})
    assert (half.status, [one.id for one in half.pending]) == ("waiting", [first.id])
    assert ran[2:] == ["delete /new/d"]
    again = loop(model, registry).run_sync(state=stored(half))
    assert (again.status, again.pending) == ("waiting", half.pending)
    done = loop(model, registry).run_sync(state=stored(again), decisions={first.id: Answered({"deleted": 1})})
    assert (done.status, ran[3:]) == ("completed", [])
    told = model.chats[1][-1]["content"]
    assert told.index('"deleted": 1') < told.index("what is in /c") < told.index("deleted /new/d")


def test_what_was_approved_is_all_that_runs() -> None:
    """A hook that changes an approved call makes it another call, which waits again."""
    registry, ran = toolbox()
    state = loop(Texts(call("delete", path="/b")), registry).run_sync("Clean up.")

    def elsewhere(one: Any, _: Any) -> Any:
        return one.model_copy(update={"arguments": {"path": "/"}})

    executor = Executor(registry, policies=[Approval()], before=[elsewhere])
    hooked = AgentLoop(TextDriver(Texts("Done."), dialect="hermes"), executor=executor)
    after = hooked.run_sync(state=state, decisions={state.pending[0].id: Approved()})
    assert (after.status, after.pending[0].call.arguments, ran) == ("waiting", {"path": "/"}, [])


def test_a_tool_may_leave_its_result_to_somebody_else() -> None:
    registry, ran = toolbox()
    api = Api(said("", ("c1", "ask_boss", '{"question": "Why?"}'), ("c2", "read", '{"path": "/a"}')), said("Because."))
    driven = AgentLoop(NativeDriver(api, parallel=True), executor=Executor(registry))
    state = driven.run_sync("Why?")
    (pending,) = state.pending
    assert (state.status, pending.why, pending.detail) == ("waiting", "result", "ticket for 'Why?'")
    after = driven.run_sync(state=stored(state), decisions={pending.id: Answered("Because I say so.")})
    assert (after.status, sorted(ran)) == ("completed", ["ask Why?", "read /a"])  # they run side by side
    assert api.requests[1]["messages"][-2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "Because I say so."},
        {"role": "tool", "tool_call_id": "c2", "content": "what is in /a"},
    ]


def test_wrong_decisions_are_refused_before_anything_runs() -> None:
    registry, ran = toolbox()
    model = Texts(ANSWER)
    waits = loop(model, registry)
    state = waits.run_sync("Clean up.")
    with pytest.raises(ValueError, match="no call waits under the id 'x'"):
        waits.run_sync(state=state, decisions={"x": Approved()})
    with pytest.raises(TypeError, match="a decision is Approved"):
        waits.run_sync(state=state, decisions={state.pending[0].id: True})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="calls wait for decisions"):
        waits.run_sync("And now?", state=state)
    with pytest.raises(ValueError, match="messages were added"):
        waits.run_sync(state=state.with_messages("And now?"), decisions={state.pending[0].id: Approved()})
    assert len(ran) == 2


PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, TextDriver

folder, answer = Path(sys.argv[1]), sys.argv[2]
registry = ToolRegistry()

@registry.register
def pay(amount: int) -> str:
    (folder / "paid").open("a").write(f"{amount} ")
    os.kill(os.getpid(), signal.SIGKILL)

def save(state):
    (folder / "state.json").write_text(json.dumps(state.to_json()))

AgentLoop(TextDriver(lambda chat: answer, dialect="hermes"), registry, checkpoint=save).run_sync("Pay.")
"""


@pytest.mark.parametrize("interrupted", ["ask", "run", "fail"])
def test_a_call_that_was_running_when_the_program_ended_is_visible(tmp_path: Path, interrupted: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path, call("pay", amount=5)], cwd=ROOT, check=False, timeout=60
    )
    assert (done.returncode, (tmp_path / "paid").read_text()) == (-9, "5 ")
    state = AgentState.from_json(json.loads((tmp_path / "state.json").read_text()))
    assert (state.status, [(one.call.name, one.why) for one in state.pending]) == ("running", [("pay", "started")])
    registry, paid = ToolRegistry(), list[int]()

    @registry.register
    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    model = Texts("Done.")
    resumed = AgentLoop(TextDriver(model, dialect="hermes"), registry, interrupted=interrupted)
    after = resumed.run_sync(state=state)
    if interrupted == "ask":
        assert (after.status, paid, model.chats) == ("waiting", [], [])
        after = resumed.run_sync(state=after, decisions={after.pending[0].id: Answered("paid")})
    assert (after.status, paid) == ("completed", [5] if interrupted == "run" else [])
    assert ("not known whether this call ran" in model.chats[0][-1]["content"]) == (interrupted == "fail")


def test_a_checkpoint_that_fails_keeps_calls_from_running() -> None:
    registry, ran = toolbox()

    def full(_: AgentState) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        loop(Texts(call("read", path="/a")), registry, checkpoint=full).run_sync("Read.")
    assert ran == []


def test_every_decision_leaves_a_record_and_an_event() -> None:
    registry, ran = toolbox()
    model = Texts(call("delete", path="/a") + call("ask_boss", question="?"), "Done.")
    events: list[Any] = []
    agent = loop(model, registry, on_event=events.append)
    state = stored(agent.run_sync("Clean up."))
    decisions = {one.id: Denied("no") if one.why == "approval" else Answered("yes") for one in state.pending}
    events.clear()
    state = agent.run_sync(state=state, decisions=decisions)
    assert [(one.name, one.failure, one.id in decisions) for one in state.executions] == [
        ("delete", "rejected", True),
        ("ask_boss", None, True),
    ]
    kinds = [type(event) for event in events]
    assert (kinds.count(ToolCallBlocked), kinds.count(ToolCallCompleted), ran) == (1, 1, ["ask ?"])
    with pytest.raises(TypeError, match="decisions are by the pending calls' ids"):
        agent.run_sync(state=state, decisions=[Approved()])  # type: ignore[arg-type]
