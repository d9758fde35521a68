"""Calls by a provider's own API: tools are declared in the request, calls come as the API's own objects.

    driver = NativeDriver(openai_chat(OpenAI(), model="gpt-5.1"), tool_choice="auto", parallel=True)
    state = await AgentLoop(driver, registry).run("Weather in Paris?")

The conversation is written by the transcript format of the client, whatever its provider; what that cannot hold is
reported with the request. Nothing is run of an answer whose stream broke off, nor a call whose arguments are cut; a
whole call of an answer that a limit ended is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.agents.drivers.asking import ModelAnswer, Request, ask
from toolfmt.agents.drivers.patience import Patience
from toolfmt.agents.drivers.turns import AnswerMessage, played
from toolfmt.agents.drivers.unread import with_unread
from toolfmt.conversation import Message, TextPart, ToolChoice, ToolDeclaration, Transcript
from toolfmt.correcting import api_feedback
from toolfmt.errors import DriverError
from toolfmt.events import CallEnd, CallFailed
from toolfmt.execution.events import ValidationFailed
from toolfmt.jsontext import is_object
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_info import Usage
from toolfmt.transcripts.answer_message import answer_message
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.losses import losses
from toolfmt.transcripts.shape import shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState
    from toolfmt.events import Event
    from toolfmt.execution.contracts import ModelClient
    from toolfmt.model import JsonObject, ToolDefinition

_MODES: Final = {"auto": ToolChoice("auto"), "none": ToolChoice("none"), "required": ToolChoice("required")}
_HELLO: Final = Message("user", (TextPart("Hello"),))


class NativeDriver:
    """Asks a client of a provider's API.

    `model` and `options` are fields of the request, with the provider's names; a client may have its own.
    `tool_choice` is `auto`, `none`, `required`, a tool's name, a `ToolChoice`, or the object of Chat Completions. A
    required call is required until a tool was called in the run, or with `keep_choice` in every step, so that only a
    guard or a loop-breaking tool ends the run. `parallel` says whether one answer may contain several calls; None
    leaves out the field. A choice that the client's format cannot express raises ValueError; an inexpressible
    `parallel` is reported as a loss. `retries` is the maximum number of consecutive answers with only broken calls;
    `patience` is for lost connections.
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
        retries: int = 2,
        patience: Patience | None = None,
    ) -> None:
        """Set the client and how to ask it."""
        self._client = client
        self._format = find(client.format).widest  # a server's reasoning goes back to it
        self._choice = _choice(tool_choice)
        self._keep = keep_choice
        self._parallel = parallel
        self._stream = stream
        self._retries = retries
        self._patience = patience or Patience()
        model = getattr(client, "model", None) if model is None else model  # so that events tell it
        fields: JsonObject = {**({} if model is None else {"model": model}), **({} if options is None else options)}
        self._extra = {f"{self._format.name}.{key}": value for key, value in fields.items()}
        self._check()

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Ask, run the calls of the answer, and add both to the state."""
        offered = runtime.offered(state)
        request = self._request(runtime.shown(state), offered, self._demanded(state, offered))

        async def once(attempt: int) -> ModelAnswer:
            return await ask(self._client, request, runtime, stream=self._stream, attempt=attempt)

        hidden = {tool.name for tool in runtime.tools} - _names(offered)
        said = _said(await self._patience.ask(once), hidden, offered)
        for failure in said.failures:
            runtime.tell(ValidationFailed, attempt=_broken(state) + 1, error=api_feedback(failure), failure=failure)
        return state.with_step(await played(said, state, runtime, api_feedback, self._errors(said, state)))

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
        """Write the request; tools whose names the provider refuses go by others."""
        tools = tuple(ToolDeclaration(tool.name, tool.description or None, tool.parameters) for tool in offered)
        whole = Transcript(messages, tools or None, choice, self._parallel if tools else None, self._extra)
        shaped = shape(whole, self._format.rules)
        value = self._format.write(shaped)
        names = {
            sent.name: tool.name for sent, tool in zip(shaped.tools or (), tools, strict=True) if sent.name != tool.name
        }
        return Request(value, tuple(losses(whole, self._format.read(value))), names)

    def _check(self) -> None:
        """Raise ValueError for a choice that the format cannot say."""
        tools = tuple(ToolDeclaration(name, None, {"type": "object"}) for name in self._choice.names or ("f",))
        whole = Transcript((_HELLO,), tools, self._choice, self._parallel)
        lost = losses(whole, self._format.read(self._format.write(shape(whole, self._format.rules))))
        for loss in lost:
            if loss.code == "tool_choice":
                raise ValueError(f"{self._format.name} cannot say {loss.code}={loss.detail}")

    def _errors(self, said: AnswerMessage, state: AgentState) -> tuple[str, ...]:
        """Give up on a model that goes on writing broken calls and nothing else."""
        count = _broken(state) + 1
        if not said.failures or len(said.failures) < len(said.ended) or count <= self._retries:
            return ()
        return (f"{count} answers in a row had calls that could not be used: {said.failures[-1].detail}",)


def _said(answer: ModelAnswer, hidden: set[str], offered: tuple[ToolDefinition, ...]) -> AnswerMessage:
    """Take an answer apart; calls of tools that are not offered now fail, and so does text that is an unread call."""
    events: Sequence[Event] = [
        _refused(event) if isinstance(event, CallEnd) and event.call.name in hidden else event
        for event in answer.events
    ]
    result = ParseResult(tuple(events))
    events = with_unread(result, result.text, offered).events
    message = answer_message(events, answer.info)
    return AnswerMessage(
        message=message,
        ended=tuple(event for event in events if isinstance(event, (CallEnd, CallFailed))),
        info=answer.info,
        usage=answer.info.usage or Usage(),
        text="".join(part.text for part in message.parts if isinstance(part, TextPart)),
    )


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
