"""Calls that wait: for approval, for a result from elsewhere, or because the program ended while they ran."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.execution.killed import registry
from tests.execution.models import Api, Texts, said
from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, NativeDriver, TextDriver
from toolfmt.agents.waiting import Answered, Approved, Denied
from toolfmt.errors import ArgumentsError, DeferredCall
from toolfmt.execution import AgentStop, Approval, Blocked, Executor
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
    reported = model.chats[1][-1]["content"]
    assert (
        reported.index("what is in /a")
        < reported.index("deleted /b")
        < reported.index("what is in /c")
        < reported.index("keep it")
    )
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
    reported = model.chats[1][-1]["content"]
    assert reported.index('"deleted": 1') < reported.index("what is in /c") < reported.index("deleted /new/d")


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
    driven = AgentLoop(NativeDriver(api, parallel=True), registry, policies=[Approval()])
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
    with pytest.raises(TypeError, match="must be an Answered, an Approved or a Denied"):
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
    assert "it may have run" in state.pending[0].detail
    registry, paid = ToolRegistry(), list[int]()

    @registry.register
    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    model = Texts("Done.")
    saved: list[AgentState] = []
    resumed = AgentLoop(TextDriver(model, dialect="hermes"), registry, interrupted=interrupted, checkpoint=saved.append)
    after = resumed.run_sync(state=state)
    assert saved[-1].status == after.status  # whoever looks at the stored state sees that it waits
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
    with pytest.raises(TypeError, match="decisions= must be a dict"):
        agent.run_sync(state=state, decisions=[Approved()])  # type: ignore[arg-type]


MIXED = call("read", path="/a") + call("delete", path="/b") + call("order", item="tea") + call("delete", path="/d")


def killed_at(moment: object, folder: Path, answer: str = MIXED) -> tuple[AgentState, list[str]]:
    """Run an agent in a process that kills itself; returns the stored state and what had run."""
    command = [sys.executable, "-m", "tests.execution.killed", folder, str(moment), answer]
    done = subprocess.run(command, cwd=ROOT, check=False, timeout=60)
    assert done.returncode == (0 if (folder / "ended").exists() else -9)
    ran = folder / "ran"
    state = AgentState.from_json(json.loads((folder / "state.json").read_text()))
    return state, ran.read_text().splitlines() if ran.exists() else []


@pytest.mark.parametrize("interrupted", ["ask", "run", "fail"])
@pytest.mark.parametrize("moment", ["ask", "policy"])
def test_a_question_that_was_open_at_the_end_of_the_program_is_asked_again(
    tmp_path: Path, moment: str, interrupted: Any
) -> None:
    state, ran = killed_at(moment, tmp_path)
    assert sorted(ran) == ["order tea", "read /a"]
    assert [(one.call.name, one.why) for one in state.pending] == [
        ("delete", "unstarted"),
        ("order", "result"),
        ("delete", "unstarted"),
    ]
    asked: list[Any] = []

    def ask(request: Any) -> str:
        asked.append(request.call.arguments)
        return "no"

    tools = registry(tmp_path / "ran")
    model = Texts("Done.")
    again = AgentLoop(TextDriver(model, dialect="hermes"), tools, policies=[Approval(ask)], interrupted=interrupted)
    after = again.run_sync(state=state)
    assert (after.status, [one.why for one in after.pending]) == ("waiting", ["result"])
    assert sorted(one["path"] for one in asked) == ["/b", "/d"]
    after = again.run_sync(state=after, decisions={after.pending[0].id: Answered("no tea")})
    assert after.status == "completed"
    assert sorted((tmp_path / "ran").read_text().splitlines()) == ["order tea", "read /a"]
    reported = model.chats[0][-1]["content"]
    assert "not known" not in reported
    assert reported.index("what is in /a") < reported.index("was rejected: no") < reported.index("no tea")


@pytest.mark.parametrize("moment", range(1, 6))
def test_whatever_checkpoint_a_program_ends_at_nothing_runs_twice_or_unasked(tmp_path: Path, moment: int) -> None:
    """A call that is known to have started waits for a decision; every other one runs once, after its question."""
    state, before = killed_at(moment, tmp_path)
    started = {one.call.name + str([*one.call.arguments.values()]) for one in state.pending if one.why == "started"}
    asked: list[Any] = []

    def ask(request: Any) -> bool:
        asked.append(request.call.arguments["path"])
        return True

    tools = registry(tmp_path / "ran")
    agent = AgentLoop(TextDriver(Texts("Done."), dialect="hermes"), tools, policies=[Approval(ask)])
    state = agent.run_sync(state=state)
    assert {one.call.name + str([*one.call.arguments.values()]) for one in state.pending} == {*started, "order['tea']"}
    state = agent.run_sync(state=state, decisions={one.id: Answered("unknown") for one in state.pending})
    assert state.status == "completed"
    ran = (tmp_path / "ran").read_text().splitlines()
    assert len(ran) == len({*ran})
    deleted = [line for line in ran if line.startswith("delete")]
    assert {*ran[len(before) :]} & {*deleted} == {f"delete {path}" for path in asked}
    calls = [part for message in state.messages for part in message.parts if type(part).__name__ == "CallPart"]
    results = [part for message in state.messages for part in message.parts if type(part).__name__ == "ResultPart"]
    assert len(calls) == len(results) == 4


def test_an_approval_is_for_one_call_and_not_for_what_a_tool_calls() -> None:
    """A sub-agent that runs under approved calls asks about its own."""
    inner, ran = toolbox()
    asked: list[Any] = []

    def ask(request: Any) -> bool:
        asked.append(request.call.arguments)
        return False

    below = AgentLoop(
        TextDriver(Texts(call("delete", path="/b"), "Done."), dialect="hermes"), inner, policies=[Approval(ask)]
    )

    async def helper(task: str) -> str:
        """Help."""
        return (await below.run(task)).text

    outer = ToolRegistry([helper])
    outer.register(inner.function("delete"), name="delete", dangerous=True)
    model = Texts(call("delete", path="/b") + call("helper", task="Clean."), "Done.")
    agent = AgentLoop(TextDriver(model, dialect="hermes"), outer, policies=[Approval(tools=["*"])])
    state = agent.run_sync("Clean up.")
    assert [one.call.name for one in state.pending] == ["delete", "helper"]
    state = agent.run_sync(state=stored(state), decisions={one.id: Approved() for one in state.pending})
    assert (state.status, ran, asked) == ("completed", ["delete /b"], [{"path": "/b"}])


def test_one_approval_does_not_cover_a_call_that_a_hook_makes_alike() -> None:
    registry, ran = toolbox()
    state = loop(Texts(call("delete", path="/b") + call("delete", path="/c")), registry).run_sync("Clean up.")

    def alike(one: Any, _: Any) -> Any:
        return one.model_copy(update={"arguments": {"path": "/b"}})

    executor = Executor(registry, policies=[Approval()], before=[alike])
    agent = AgentLoop(TextDriver(Texts("Done."), dialect="hermes"), executor=executor)
    after = agent.run_sync(state=state, decisions={one.id: Approved() for one in state.pending})
    assert (after.status, ran, [one.at for one in after.pending]) == ("waiting", ["delete /b"], [1])


def test_calls_after_one_that_is_refused_on_resume_get_a_result() -> None:
    registry, ran = toolbox()
    model = Texts(call("delete", path="/b") + call("delete", path="/c"), "Done.")
    state = loop(model, registry).run_sync("Clean up.")

    def no(one: Any, _: Any) -> Any:
        return Blocked("no more today") if one.arguments["path"] == "/b" else None

    executor = Executor(registry, policies=[Approval()], before=[no], stop_on_block=True)
    agent = AgentLoop(TextDriver(model, dialect="hermes"), executor=executor)
    after = agent.run_sync(state=stored(state), decisions={one.id: Approved() for one in state.pending})
    assert (after.status, after.pending, ran) == ("completed", (), [])
    reported = model.chats[1][-1]["content"]
    assert reported.index("no more today") < reported.index("The call was not run")


def test_a_checkpoint_that_fails_while_calls_run_starts_no_other_and_keeps_their_records() -> None:
    registry, ran = toolbox()
    saved = 0

    def full(state: AgentState) -> None:
        nonlocal saved
        saved += 1
        if any(one.call.name == "delete" and one.why == "started" for one in state.pending):
            raise OSError("no space left")

    async def ask(_: Any) -> bool:
        await anyio.sleep(0.05)
        return True

    agent = AgentLoop(
        TextDriver(Texts(call("read", path="/a") + call("delete", path="/b")), dialect="hermes"),
        registry,
        policies=[Approval(ask)],
        checkpoint=full,
    )
    state = agent.run_sync("Clean up.")
    assert (state.status, state.reason, ran) == ("failed", "the state could not be stored: no space left", ["read /a"])
    assert [(one.name, one.failure) for one in state.executions] == [("read", None), ("delete", "cancelled")]


def test_a_completed_state_is_returned_as_it_is_and_one_with_new_messages_is_answered() -> None:
    registry, ran = toolbox()
    model = Texts(call("read", path="/a"), "It is empty.", "Yes.")
    agent = loop(model, registry)
    state = agent.run_sync("Read.")
    assert agent.run_sync(state=stored(state)) == state
    assert (len(model.chats), ran) == (2, ["read /a"])
    assert agent.run_sync(state=state.with_messages("Really?")).text == "Yes."


def test_a_call_that_waits_beside_one_that_ended_the_run_can_still_be_decided() -> None:
    registry, ran = toolbox()

    @registry.register
    def stop() -> str:
        """Stop."""
        raise AgentStop("enough")

    model = Texts(call("ask_boss", question="?") + call("stop"), "Done.")

    agent = AgentLoop(TextDriver(model, dialect="hermes"), executor=Executor(registry, limit=1, policies=[Approval()]))
    state = agent.run_sync("Ask.")
    assert (state.status, [one.why for one in state.pending]) == ("stopped", ["result"])
    with pytest.raises(ValueError, match="calls wait for decisions"):
        agent.run_sync("Go on.", state=state)
    state = agent.run_sync(state=stored(state), decisions={state.pending[0].id: Answered("yes")})
    assert (state.status, state.reason, len(model.chats)) == ("stopped", "enough", 1)
    state = agent.run_sync("Go on.", state=state)
    assert (state.status, ran) == ("completed", ["ask ?"])
    assert "yes" in str(model.chats[1])


class Wrapped:
    """Another executor around one: nothing is known of when its calls start."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def list_tools(self) -> Any:
        return self.inner.list_tools()

    def is_visible(self, tool: Any, state: Any) -> bool:
        return self.inner.is_visible(tool, state)

    def for_run(self, guards: Any, listener: Any) -> Wrapped:
        return Wrapped(self.inner.for_run(guards, listener))

    async def execute(self, calls: Any, *, state: object = None, agent: str | None = None) -> Any:
        return await self.inner.execute(calls, state=state, agent=agent)


@pytest.mark.parametrize("wrap", [Wrapped, lambda inner: inner], ids=["wrapped", "own"])
def test_no_rule_for_interrupted_calls_approves_one(wrap: Any) -> None:
    registry, ran = toolbox()
    saved: list[AgentState] = []
    asked: list[str] = []

    def agent(answer: Any, *texts: str) -> AgentLoop:
        def ask(request: Any) -> Any:
            asked.append(request.call.name)
            return answer

        executor: Any = wrap(Executor(registry, policies=[Approval(ask)]))
        driver = TextDriver(Texts(*texts), dialect="hermes")
        return AgentLoop(driver, executor=executor, checkpoint=saved.append, interrupted="run")

    agent("no", call("delete", path="/b"), "Done.").run_sync("Clean up.")
    begun = saved[0]
    assert begun.pending[0].why == ("started" if wrap is Wrapped else "unstarted")
    after = agent("no", "Done.").run_sync(state=stored(begun))
    assert (after.status, asked, ran) == ("completed", ["delete"] * 2, [])
    after = agent("no", "Done.").run_sync(state=stored(begun), decisions={begun.pending[0].id: Approved()})
    assert (after.status, asked, ran) == ("completed", ["delete"] * 2, ["delete /b"])


def test_arguments_of_an_approval_that_do_not_fit_the_tool_raise_and_the_call_keeps_waiting() -> None:
    registry, ran = toolbox()
    state = loop(Texts(call("delete", path="/b"), "Done."), registry).run_sync("Clean up.")
    for wrong in ({"path": 1}, {}, {"path": "/b", "force": True}, {"pth": "/b"}):
        agent = loop(Texts("Done."), registry)
        with pytest.raises(ArgumentsError, match="'delete'"):
            agent.run_sync(state=stored(state), decisions={state.pending[0].id: Approved(wrong)})
    after = loop(Texts("Done."), registry).run_sync(
        state=state, decisions={state.pending[0].id: Approved({"path": "/c"})}
    )
    assert (after.status, ran) == ("completed", ["delete /c"])


def test_the_model_reads_that_a_person_changed_the_arguments() -> None:
    registry, _ = toolbox()
    api = Api(said("", ("c1", "delete", '{"path": "/b"}')), said("Done."))
    driven = AgentLoop(NativeDriver(api), registry, policies=[Approval()])
    state = driven.run_sync("Clean up.")
    (pending,) = state.pending
    after = driven.run_sync(state=stored(state), decisions={pending.id: Approved({"path": "/c"})})
    told = 'A person changed the arguments of this call to {"path": "/c"}. Its result:\ndeleted /c'
    assert api.requests[1]["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": told}
    assert after.executions[0].arguments == {"path": "/c"}

    api = Api(said("", ("c1", "delete", '{"path": "/b"}')), said("Done."))
    driven = AgentLoop(NativeDriver(api), registry, policies=[Approval()])
    state = driven.run_sync("Clean up.")
    driven.run_sync(state=state, decisions={state.pending[0].id: Approved({"path": "/b"})})
    assert api.requests[1]["messages"][-1]["content"] == "deleted /b"


def test_a_changed_call_that_was_interrupted_still_says_so() -> None:
    registry, _ = toolbox()
    saved: list[AgentState] = []
    driven = loop(Texts(call("delete", path="/b"), "Done."), registry, checkpoint=saved.append)
    (pending,) = driven.run_sync("Clean up.").pending
    driven.run_sync(state=saved[-1], decisions={pending.id: Approved({"path": "/c"})})
    begun = next(one for one in saved if one.pending and one.pending[0].why == "started")
    model = Texts("Done.")
    loop(model, registry).run_sync(state=stored(begun), decisions={begun.pending[0].id: Answered("it is gone")})
    assert (
        'changed the arguments of this call to {"path": "/c"}. Its result:\nit is gone' in model.chats[0][-1]["content"]
    )


def test_an_approval_that_comes_too_late_runs_nothing() -> None:
    registry, ran = toolbox()
    late = threading.Event()
    answered = threading.Event()

    def ask(_: Any) -> bool:
        late.wait(10)
        answered.set()
        return True

    model = Texts(call("delete", path="/b"), "Done.")
    agent = AgentLoop(TextDriver(model, dialect="hermes"), registry, policies=[Approval(ask, timeout=0.05)])
    state = agent.run_sync("Clean up.")
    late.set()
    assert answered.wait(10)
    assert (state.status, [one.failure for one in state.executions], ran) == ("completed", ["rejected"], [])


def test_a_state_that_is_resumed_after_it_was_carried_on_repeats_no_question_of_its_own() -> None:
    """The state that a checkpoint stored last has no call that waits: nothing can be approved a second time."""
    registry, ran = toolbox()
    saved: list[AgentState] = []
    model = Texts(call("delete", path="/b"), "Done.", "Again?")
    agent = loop(model, registry, checkpoint=saved.append)
    state = agent.run_sync("Clean up.")
    decisions = {state.pending[0].id: Approved()}
    agent.run_sync(state=state, decisions=decisions)
    with pytest.raises(ValueError, match="no call waits under the id"):
        agent.run_sync(state=stored(saved[-1]), decisions=decisions)
    started = next(one for one in saved if [call.why for call in one.pending] == ["started"])
    assert agent.run_sync(state=stored(started)).status == "waiting"
    assert ran == ["delete /b"]


def test_a_call_waits_under_one_id_from_its_first_checkpoint_on() -> None:
    registry, _ = toolbox()
    states: list[AgentState] = []
    agent = loop(Texts(ANSWER + call("ask_boss", question="?"), "Done."), registry, checkpoint=states.append)
    state = agent.run_sync("Clean up.")
    names = {one.id: one.call.arguments for one in states[0].pending}
    assert len(names) == 5
    assert [one.why for one in states[0].pending] == ["unstarted"] * 5
    for one in (*states, state):
        assert {pending.id: pending.call.arguments for pending in one.pending}.items() <= names.items()
    assert [one.why for one in state.pending] == ["approval", "approval", "result"]
    first = state.pending[0]
    after = agent.run_sync(state=state, decisions={first.id: Approved()})
    assert [one.id for one in after.pending] == [one.id for one in state.pending[1:]]
