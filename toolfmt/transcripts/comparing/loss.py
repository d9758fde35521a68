"""A loss, the codes of all losses, and the losses of a request: tools, the choice among them, extra fields.

Loss("tool", "/tools/0", "dropped", "get_weather")
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from toolfmt.conversation import ToolChoice, ToolDeclaration, Transcript
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.comparing import differences
from toolfmt.transcripts.parts.endings import ended_word
from toolfmt.transcripts.parts.hosted import COMMON, identity
from toolfmt.transcripts.parts.session_lines import written
from toolfmt.transcripts.parts.values import without

Action: TypeAlias = Literal["dropped", "changed", "renamed", "moved", "merged", "added", "missing"]
Severity: TypeAlias = Literal["content", "meaning", "setting", "bookkeeping"]


@dataclass(frozen=True, slots=True)
class Loss:
    """One difference between the source and the result.

    `path` is the JSON pointer of the source's message, or of the request's field. The path of a tool is
    `/tools/NUMBER`, and that of its schema `/tools/NUMBER/parameters`, in every format.
    """

    code: str
    path: str
    action: Action
    detail: str = ""

    @property
    def severity(self) -> Severity:
        """The kind of the loss: `content`, `meaning`, `setting` or `bookkeeping`."""
        return SEVERITIES[self.code]


_CODES: Final[Mapping[Severity, Mapping[str, str]]] = {
    "content": {
        "text": "text of a message",
        "reasoning": "the model's reasoning",
        "media": "an image, audio, video or document",
        "refusal": "a refusal, which became text or was dropped",
        "call": "a tool call",
        "arguments": "a call's arguments, as values",
        "result": "a tool's result",
        "result_content": "what a result says",
        "citations": "sources that a text names",
        "provider_part": "a part that only its provider understands",
        "unread": "a message without a known field",
        "tools": "the list of tools",
        "tool": "a tool's declaration",
        "context": "earlier messages stored at the provider, or documents beside the messages",
        "choice": "a further answer to the same question",
        "beside": "content beside the messages: a side chain, an attachment, sound, a tool's artifact",
    },
    "meaning": {
        "call_kind": "whether a call carries free text or JSON",
        "tool_name": "a tool's name in a call",
        "namespace": "the namespace of a call",
        "result_link": "which call a result answers",
        "error_flag": "that a result is an error",
        "duplicate": "a second result of a call, which was joined with the first",
        "placeholder": "a result or a message that a repair added",
        "speaker": "the name of the speaker",
        "role": "the role of a message",
        "order": "the order of what a message says",
        "schema": "a constraint or a description in a tool's schema",
        "strict": "whether a call must fit its tool's schema",
        "tool_choice": "which tools may be called",
        "ending": "that an answer was cut off by a limit, stopped by a filter, or ended without a reason",
        "label": "the rating of an answer, or that it is not to train on",
    },
    "setting": {
        "parallel": "whether several calls may be made at once",
        "setting": "a setting of the request: a limit, a temperature, a format of the answer",
    },
    "bookkeeping": {
        "signature": "the proof or the ciphertext that goes with reasoning or a call",
        "call_id": "a call's id",
        "argument_text": "how a call's arguments were spelled: their values are the same",
        "provider_field": "a field that only its provider understands",
        "message": "a message without content",
        "boundary": "where one message or text ends and the next begins",
        "request_field": "a field of the request, which was not converted",
        "delivery": "how the provider stores and sends an answer, without effect on its content",
        "answer_field": "a field beside the message of an answer",
    },
}
CODES: Final[Mapping[str, str]] = {code: what for codes in _CODES.values() for code, what in codes.items()}
"""A description of each code."""
SEVERITIES: Final[dict[str, Severity]] = {code: severity for severity, codes in _CODES.items() for code in codes}
"""The severity of each code: `strict` refuses content and meaning; bookkeeping is reported separately."""


SAID: Final = frozenset(
    {
        *("sidechains", "branches", "artifact", "audio", "executed_tools", "context", "videoMetadata", "instructions"),
        *("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks", "structuredContent"),
    }
)
"""Extra fields, of any format, whose content a model sees."""
_MISSPELT: Final = frozenset({"content", "functioncall", "message", "part", "text", "toolcall"})
"""Fields of what was said in every format, without case, underscores and the plural: `contents`, `tool_call`."""
_REPEATED: Final = frozenset({"lines", "search_result", "summary"})
"""Extra fields whose text is also in the part or the message."""
LINES: Final = ".said"
"""The suffix of an extra field with the text of lines that are not messages, by line number."""
_AUTO: Final = ToolChoice()


def request_losses(before: Transcript, after: Transcript) -> Iterator[Loss]:
    """List the settings that the request no longer has; a missing setting means `auto`."""
    if before.tools and after.tools is None:
        yield Loss("tools", "/tools", "dropped", short(", ".join(tool.name for tool in before.tools)))
    else:
        yield from _tools(before.tools or (), after.tools or ())
    if (before.tool_choice or _AUTO) != (after.tool_choice or _AUTO):
        choice = before.tool_choice or _AUTO
        described = f"{choice.mode}: one of {', '.join(choice.names)}" if choice.names else choice.mode
        yield Loss("tool_choice", "/tool_choice", "changed", described)
    if (before.parallel is False) != (after.parallel is False):
        described = "one call at a time" if before.parallel is False else "several calls at once"
        yield Loss("parallel", "/parallel", "dropped", described)
    if before.rejected is not None and after.rejected is None:
        yield Loss("choice", "/rejected", "dropped")
    if before.label != after.label:
        yield Loss("label", "/label", "dropped", f"{before.label}")
    for key, value in before.extra.items():
        if key in after.extra or not _says(value):
            continue
        if key.endswith(LINES) and is_object(value):
            for at, words in value.items():
                yield Loss("beside", f"/{at}", "dropped", short(words))
        else:
            code = "beside" if _holds_content(key, value) else "request_field"
            word = ended_word(value, key) if code == "request_field" else ""
            yield Loss("ending" if word else code, f"/{key.partition('.')[2]}", "dropped", word or key)


def further(before: JsonObject, after: JsonObject, where: str) -> Iterator[Loss]:
    """Yield the extra fields of a part or a message that are missing or changed."""
    if before == after:
        return
    for key, value in before.items():
        if (key not in after or after[key] != value) and _says(value):
            excluded = key.endswith(".weight") and value == 0  # without it, a bad answer would be trained on
            code = "label" if excluded else "beside" if _holds_content(key, value) else "provider_field"
            word = ended_word(value, key) if code == "provider_field" else ""
            yield Loss("ending" if word else code, where, "dropped" if key not in after else "changed", word or key)


def _holds_content(key: str, value: JsonValue) -> bool:
    """Whether an extra field contains text that a model sees or somebody wrote; a session's lines repeat it."""
    name = key.rpartition(".")[2]  # without the names of its format and its holder
    if name.replace("_", "").lower().removesuffix("s") in _MISSPELT:
        return True
    return name in SAID or (name not in _REPEATED and any(written({name: value})))


def _says(value: JsonValue) -> bool:
    """Whether an extra field has a value: some servers write every field of an answer, with empty texts."""
    return any(map(_says, value.values())) if is_object(value) else value not in (None, "", [])


def short(text: str, most: int = 80) -> str:
    """Shorten a text to fit on a line."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _tools(before: Sequence[ToolDeclaration], after: Sequence[ToolDeclaration]) -> Iterator[Loss]:
    """Compare declarations one by one, or by name if some are gone; an empty description counts as missing."""
    named: dict[object, deque[ToolDeclaration]] = defaultdict(deque)
    for tool in after:
        named[identity(tool)].append(tool)
    paired = [named[identity(tool)].popleft() if named.get(identity(tool)) else None for tool in before]
    # A renamed tool is matched by its place among the remaining tools of its kind.
    left = deque(tool for queue in named.values() for tool in queue)
    for at, tool in enumerate(before):
        other = paired[at]
        if other is None and len(before) == len(after) and left and left[0].kind == tool.kind:
            other = left.popleft()
        if other is None:
            yield Loss("tool", f"/tools/{at}", "dropped", tool.name)
        elif tool != other:
            yield from _declared(tool, other, f"/tools/{at}")


def _declared(tool: ToolDeclaration, other: ToolDeclaration, path: str) -> Iterator[Loss]:
    """Compare two declarations of a tool; not strict and an empty description are defaults."""
    if _rest(tool) != _rest(other):
        yield Loss("tool", path, "changed", _reduced(tool, other))
    if bool(tool.strict) != bool(other.strict):
        yield Loss("strict", path, "dropped" if tool.strict else "added", tool.name)
    if tool.kind == other.kind == "function" and tool.parameters is not other.parameters:
        if tool.parameters and not is_object(tool.parameters) and tool.parameters != other.parameters:
            yield Loss("schema", f"{path}/parameters", "dropped", f"no schema, but {type(tool.parameters).__name__}")
        for found in differences(tool.parameters, other.parameters):
            yield Loss("schema", f"{path}/parameters{found.pointer}", found.action, found.detail)


def _reduced(tool: ToolDeclaration, other: ToolDeclaration) -> str:
    """Name a tool and the fields that the other declaration lacks: `web_search, without allowed_domains`."""
    if tool.kind == "hosted":
        return f"{tool.name}{without(_own(tool), [_own(other), tool.name])}"
    extra = (key for key, value in tool.extra.items() if value is not None and key not in other.extra)
    gone = [key.partition(".")[2] or key for key in extra]
    gone += ["description"] if tool.description and not other.description else []
    return f"{tool.name}, without {', '.join(gone)}" if gone else tool.name


def _own(tool: ToolDeclaration) -> JsonValue:
    return {key: value for key, value in tool.extra.items() if key != COMMON}


def _rest(tool: ToolDeclaration) -> ToolDeclaration:
    schema = None if tool.kind == "function" else tool.parameters
    extra = {key: value for key, value in tool.extra.items() if value is not None}
    return replace(tool, description=tool.description or None, parameters=schema, strict=None, extra=extra)
