r"""Ask a person before a call runs.

    Approval(ask, tools=["write_*"], timeout=60)

    def ask(request: ApprovalRequest) -> bool | str:
        answer = input(f"{request.preview}\nRun this? [y/N] ")
        return True if answer == "y" else "the user said no"

Only True approves. Anything else, also an error or no answer in time, rejects the call; a
text is the reason, which the model sees. A call that is approved also runs if it has no marker
or was read with a guess: the preview says so, and the person decides.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from inspect import isawaitable
from typing import Any, Final, TypeAlias
from unicodedata import category, name

import anyio
import regex
from anyio.lowlevel import RunVar

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.execution.contracts import same_call
from toolfmt.execution.events import failed
from toolfmt.execution.hooks import Blocked, ToolContext, ask, takes
from toolfmt.execution.policies.policy import Candidate, matcher
from toolfmt.execution.records import AgentStop
from toolfmt.execution.running import check_seconds, in_thread, is_async
from toolfmt.model import ToolDefinition, ToolInvocation


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A request for approval: exactly the call that will run."""

    call: ToolInvocation
    preview: str
    tool: ToolDefinition | None
    context: ToolContext


Decide: TypeAlias = "Callable[[ApprovalRequest], Awaitable[bool | str | None] | bool | str | None]"
Preview: TypeAlias = "Callable[[ToolInvocation], Awaitable[str] | str]"


_DOUBTS: Final = {
    "bare": "The model wrote this call in its text without a marker: it may be a quotation.",
    "fenced": "The model wrote this call in a code fence: it may be a quotation.",
    "guessed": "The call was not written exactly: this is one of several readings.",
}
"""What a person should know about a call, by its provenance and its certainty."""


def preview(call: ToolInvocation) -> str:
    """Show a whole call: its tool, all arguments as JSON, doubts about its reading; invisible characters by name."""
    names = (call.name,) if call.server is None else (call.server, call.name)
    where = "/".join(jsontext.dumps(name)[1:-1] for name in names)  # a line feed in a name begins no line of its own
    doubts = [_DOUBTS[mark] for mark in (call.provenance, call.certainty) if mark in _DOUBTS]
    return "\n".join([show_invisible(f"{where} {jsontext.dumps(call.arguments, indent=2)}"), *doubts])


@checked(ask="the function that decides is decide=, or the first argument")
class Approval:
    """Requires approval for calls of dangerous tools, or of named tools."""

    step = "approval"

    def __init__(
        self,
        decide: Decide | None = None,
        *,
        tools: Iterable[str] | None = None,
        timeout: float | None = None,
        preview: Preview = preview,
        together: bool = False,
    ) -> None:
        """`tools` are patterns of tools that need approval; the default is dangerous tools.

        Without `decide`, an `AgentLoop` stops with the status `waiting`, and the decision is passed when the stored
        state is resumed; an `Executor` alone returns a record with the failure `waiting`. `decide` is called for one
        call at a time, unless `together` is set. `timeout` is in seconds per call; None waits forever. A sync function
        runs in a thread, so it may block.
        """
        if decide is not None:
            takes(decide, "decide", "request")
        takes(preview, "preview", "call")
        self._decide = decide
        self.tool_names = () if tools is None else tuple(tools)
        self._tools = None if tools is None else matcher(self.tool_names)
        self._timeout = check_seconds(timeout, "timeout")
        self._preview = preview
        self._together = together
        self._turn: RunVar[anyio.Lock] = RunVar("approval")

    async def check(self, candidate: Candidate) -> Blocked | None:
        """Show the call and wait for the decision."""
        call = candidate.call
        if not self.decides(candidate) or (candidate.approved is not None and same_call(call, candidate.approved)):
            return None
        if self._decide is None:
            return Blocked(f"{call.name!r} waits for approval", "waiting")
        try:
            shown = await ask(self._preview, call)
        except AgentStop:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code; a call that cannot be shown cannot be approved
            return Blocked(f"the call could not be shown for approval: {failed('its preview', error)}", "rejected")
        request = ApprovalRequest(call, shown, candidate.tool, candidate.context)
        if self._together:
            return await self._answer(request)
        turn = self._turn.get(None)
        if turn is None:  # a lock serves one event loop
            self._turn.set(turn := anyio.Lock())
        async with turn:
            return await self._answer(request)

    def decides(self, candidate: Candidate) -> bool:
        """Whether this call needs approval; then nothing else that the executor would doubt refuses it."""
        if self._tools is None:
            return candidate.tool is not None and candidate.tool.is_dangerous
        name = candidate.call.name
        names = {name, name if candidate.server is None else f"{candidate.server}/{name}"}
        return any(map(self._tools, names))

    async def _answer(self, request: ApprovalRequest) -> Blocked | None:
        try:
            with anyio.move_on_after(self._timeout):
                answer = await self._asked(request)
                if answer is True:
                    return None
                reason = answer or "it was not approved"
                return Blocked(f"{request.call.name!r} was rejected: {reason}", "rejected")
        except AgentStop:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code; only True approves
            return Blocked(f"{request.call.name!r} was rejected: {failed('asking', error)}", "rejected")
        return Blocked(f"{request.call.name!r} was rejected: no answer within {self._timeout:g} s", "rejected")

    async def _asked(self, request: ApprovalRequest) -> bool | str:
        decide = self._decide
        assert decide is not None  # noqa: S101 - `check` asks nobody otherwise
        answer: Any = await (ask(decide, request) if is_async(decide) else in_thread(partial(decide, request)))
        answer = await answer if isawaitable(answer) else answer
        if not isinstance(answer, (bool, str)) or (isinstance(answer, str) and answer.strip().lower() in _CONSENT):
            wrong = TypeError(f"the answer is {answer!r}: return True to approve, and False or a reason to reject")
            failed("asking", wrong)
            return "the program got no usable decision on it: calling again does not help, so go on without it"
        return answer


_CONSENT: Final = frozenset({"y", "yes", "true", "ok", "okay"})
"""Texts that were hardly meant as the reason to reject a call."""


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
"""Controls, the turns of right-to-left writing, line breaks and every space but the plain one."""
_IGNORABLE: Final = regex.compile(r"\p{Default_Ignorable_Code_Point}")
"""What Unicode wants to be shown as nothing if it is not supported: fillers, selectors, joiners, tags."""
_BLANK_WORDS: Final = frozenset({"BLANK", "FILLER"})
"""Words in the names of characters whose glyph is empty, such as BRAILLE PATTERN BLANK."""
_BLANK: Final = frozenset({"MUSICAL SYMBOL NULL NOTEHEAD"})
"""Characters with an empty glyph that no word says (The Unicode Standard, code chart U+1D100)."""


_PILED: Final = regex.compile(
    r"(?:(?<![\p{L}\p{M}])|(?<=\p{Mn}{4}))\p{Mn}{1,999}|[\p{Me}\p{Canonical_Combining_Class=1}]\p{Mn}{0,999}"
)
"""Marks that are on no letter, on top of four others, around a character or through it: they cover what is there."""


def show_invisible(text: str) -> str:
    """Write every character that is invisible, or covers others, as its name, or as an escape; line feeds stay."""
    return "".join(map(_shown, _PILED.sub(lambda found: "".join(map(_named, found[0])), text)))


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    return _named(character) if character not in "\n " and _hides(character, name(character, "")) else character


def _named(character: str) -> str:
    called = name(character, "")
    return f"\\N{{{called}}}" if called else json.dumps(character)[1:-1]


def _hides(character: str, called: str) -> bool:
    if category(character) in _UNSEEN or _IGNORABLE.match(character) is not None:
        return True
    return called in _BLANK or not _BLANK_WORDS.isdisjoint(called.split())
