"""Calls in a provider's own API: the request declares the tools, the answer has calls as objects.

    driver = NativeDriver(openai_chat(OpenAI(), model="gpt-5.1"), tool_choice="auto", parallel=True)
    state = await AgentLoop(driver, registry).run("Weather in Paris?")

The conversation is written in the client's transcript format; losses are reported with the request. If a stream breaks
off, nothing of its answer runs. If a limit ended the answer, its complete calls run, and the one that was cut off does
not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.agents.clients.text import OF_SDK
from toolfmt.agents.drivers.asking import Asker, ModelAnswer, Patience, Request, last_step
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.drivers.unread import nothing_in, with_unread
from toolfmt.agents.runtime import Runtime
from toolfmt.agents.state import AgentState
from toolfmt.arguments import Natural, checked
from toolfmt.conversation import Message, TextPart, ToolChoice, ToolDeclaration, Transcript
from toolfmt.correcting import api_feedback
from toolfmt.errors import DriverError
from toolfmt.events import CallEnd, CallFailed
from toolfmt.execution.contracts import ModelClient
from toolfmt.execution.events import ValidationFailed
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find

_MODES: Final = {"auto": ToolChoice("auto"), "none": ToolChoice("none"), "required": ToolChoice("required")}
_UNFINISHED: Final = frozenset({"length", "pause"})
"""Finish reasons with which an answer may have no content."""
_HELLO: Final = Message("user", (TextPart("Hello"),))


@checked(client=OF_SDK)
class NativeDriver:
    """Asks a client of a provider's API.

    `model` and `options` are fields of the request, with the provider's names; a client may have its own.
    `tool_choice` is `auto`, `none`, `required`, a tool's name, a `ToolChoice`, or the object of Chat Completions. A
    required call is required until a tool was called in the run, or with `keep_choice` in every step, so that only a
    guard or a loop-breaking tool ends the run. `parallel` says whether one answer may contain several calls; None
    leaves out the field. A choice that the client's format cannot express raises ValueError; an inexpressible
    `parallel` is reported as a loss. `retries` is the maximum number of consecutive answers that cannot
    be used, as all of their calls are broken or they have no text and no call; `patience` is for lost connections.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of the caller's
        self,
        client: ModelClient,
        *,
        model: str | None = None,
        options: JsonObject | None = None,
        tool_choice: ToolChoice | JsonObject | str | None = "auto",
        keep_choice: bool = False,
        parallel: bool | None = False,
        stream: bool = True,
        retries: Natural = 2,
        patience: Patience | None = None,
    ) -> None:
        self._client = client
        self._format = find(client.format).widest  # so that a server's reasoning goes back to it
        self._choice = _choice(tool_choice)
        self._keep = keep_choice
        self._parallel = parallel
        self._stream = stream
        self._retries = retries
        self._patience = patience or Patience()
        model = getattr(client, "model", None) if model is None else model  # so that events show it
        fields: JsonObject = {**({} if model is None else {"model": model}), **({} if options is None else options)}
        self._extra = {f"{self._format.name}.{key}": value for key, value in fields.items()}
        self._check()

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Ask, run the calls of the answer, and add both to the state."""
        offered = runtime.offered(state)
        request = self._request(runtime.shown(state), offered, self._demanded(state, offered))
        answer = await Asker(runtime, self._patience).ask_api(self._client, request, stream=self._stream)
        hidden = {tool.name for tool in runtime.tools} - _names(offered)
        answered = _answered(answer, hidden, offered, typed=runtime.typed)
        for failure in answered.step.failures:
            runtime.report(ValidationFailed, attempt=_broken(state) + 1, error=api_feedback(failure), failure=failure)
        answered = replace(answered, step=replace(answered.step, errors=self._errors(answered, state)))
        return state.with_step(await played(answered, state, runtime, api_feedback))

    def _demanded(self, state: AgentState, offered: tuple[ToolDefinition, ...]) -> ToolChoice | None:
        choice = self._choice
        unknown = set(choice.names) - _names(offered)
        if unknown:
            raise DriverError(f"tool_choice names {', '.join(sorted(unknown))}, which is not offered")
        called = any(step.calls for step in state.steps)
        if choice.mode == "required" and called and not self._keep:
            choice = ToolChoice("auto", choice.names if len(choice.names) > 1 else ())
        return choice if offered and choice != ToolChoice() else None

    def _request(
        self, messages: tuple[Message, ...], offered: tuple[ToolDefinition, ...], choice: ToolChoice | None
    ) -> Request:
        """Write the request; tools whose names the provider would refuse get other names."""
        tools = tuple(ToolDeclaration(tool.name, tool.description or None, tool.parameters) for tool in offered)
        whole = Transcript(messages, tools or None, choice, self._parallel if tools else None, self._extra)
        shaped = shape(whole, self._format.rules)
        value = self._format.write(shaped)
        names = {
            sent.name: tool.name for sent, tool in zip(shaped.tools or (), tools, strict=True) if sent.name != tool.name
        }
        return Request(value, tuple(losses(whole, self._format.read(value))), names)

    def _check(self) -> None:
        """Raise ValueError for a choice that the format cannot express."""
        tools = tuple(ToolDeclaration(name, None, {"type": "object"}) for name in self._choice.names or ("f",))
        whole = Transcript((_HELLO,), tools, self._choice, self._parallel)
        for loss in losses(whole, self._format.read(self._format.write(shape(whole, self._format.rules)))):
            if loss.code == "tool_choice":
                raise ValueError(f"{self._format.name} cannot say {loss.code}={loss.detail}")

    def _errors(self, answered: AnswerMessage, state: AgentState) -> tuple[str, ...]:
        """Give up on a model that keeps writing only broken calls."""
        count, failures = _broken(state) + 1, answered.step.failures
        if not failures or answered.calls or count <= self._retries:
            return ()
        return (f"{count} answers in a row could not be used: {failures[-1].detail}",)


def _answered(
    answer: ModelAnswer, hidden: set[str], offered: tuple[ToolDefinition, ...], *, typed: bool
) -> AnswerMessage:
    """Make the message of an answer; calls of tools that are not offered now fail, and so does an unread call."""
    events = (
        _refused(event) if isinstance(event, CallEnd) and event.call.name in hidden else event
        for event in answer.result.events
    )
    result = ParseResult(tuple(events))
    result = with_unread(result, result.text, offered, typed=typed)
    nothing = nothing_in(replace(answer, result=result))
    if nothing and not result.notices and answer.info.stop not in _UNFINISHED:  # a notice reports any other content
        result = ParseResult((*result.events, CallFailed(0, "", "missing_answer", nothing, (0, 0))))
    message = answer_message(result.events, answer.info)
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    return AnswerMessage(message, result.ended, last_step([replace(answer, result=result)], text=text))


def _refused(event: CallEnd) -> CallFailed:
    call = event.call
    detail = f"the tool {call.name!r} is not offered now"
    return CallFailed(event.index, call.raw_arguments or "{}", "unknown_tool", detail, event.span, call.name)


def _broken(state: AgentState) -> int:
    """Count the steps at the end whose calls were all broken."""
    count = 0
    for step in reversed(state.steps):
        if not step.failures or step.calls:
            break
        count += 1
    return count


def _names(tools: tuple[ToolDefinition, ...]) -> set[str]:
    return {tool.name for tool in tools}


def _choice(value: ToolChoice | JsonObject | str | None) -> ToolChoice:
    if value is None or isinstance(value, ToolChoice):
        return value or ToolChoice()
    if isinstance(value, str) and value:
        return _MODES.get(value) or ToolChoice("required", (value,))
    found = find("openai-chat").read({"messages": [], "tool_choice": value}).tool_choice if is_object(value) else None
    if found is None:
        raise ValueError(f"tool_choice is {', '.join(_MODES)}, a tool's name or a ToolChoice, not {value!r}")
    return found
