r"""ShareGPT rows for LLaMA-Factory: turns of calls, and turns of observations.

{"conversations": [
    {"from": "human", "value": "Weather in Paris?"},
    {"from": "function_call", "value": "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}"},
    {"from": "observation", "value": "18C"},
    {"from": "gpt", "value": "Paris 18C."}],
 "system": "Be brief.",
 "tools": "[{\"name\": \"get_weather\", \"description\": \"Get the weather\", \"parameters\": {\"type\": \"object\"}}]"}

{"conversations": [{"from": "human", "value": "<image>What is it?"}], "images": ["a.png"],
 "chosen": {"from": "gpt", "value": "A cat."}, "rejected": {"from": "gpt", "value": "A dog."}}

Several calls are a JSON list, and so are their results. An answer may begin with a thought, `<think>...</think>`. Text
beside calls has no place. `videos` and `audios` are like
`images`, and `kto_tag` rates the last answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.datasets.rows import (
    TURNS,
    call_objects,
    functions,
    json_list,
    read_calls,
    read_turn,
    row,
    system_message,
    texts,
)
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.media import MediaKind, from_url, to_url
from toolfmt.transcripts.parts.values import content_text, expected, json_text, located, own, pointer, rest, texts_at

NAME: Final = "sharegpt"
_KINDS: Final[tuple[MediaKind, ...]] = ("image", "video", "audio")
"""The kinds of a row's media: files of each kind are a list under its plural, and `<image>` marks each place."""
_MARK: Final = re.compile(f"<({'|'.join(_KINDS)})>")
_LISTS: Final = frozenset(f"{kind}s" for kind in _KINDS)
_PREFERENCE: Final = ("chosen", "rejected")
_ROW: Final = frozenset({TURNS, "system", "tools"})
_CALLS: Final = "function_call"
_TOOLS: Final = functions(NAME)
_NAMES: Final = {"user": "human", "assistant": "gpt", "tool": "observation"}


def read(value: JsonValue, *, at: str = f"/{TURNS}") -> Transcript:
    """Read a row, or its turns alone, which are `at` a place."""
    whole = row(value, NAME)
    messages: list[Message] = []
    system = expected(whole, "system", lambda found: isinstance(found, str), "text")
    if system:
        messages.append(system_message(system, NAME))
    called = 0
    for number, item in enumerate(whole[TURNS]):
        messages.append(_turn(item, (at, number), called))
        called = sum(isinstance(part, CallPart) for part in messages[-1].parts)
    known = _ROW
    compared = [whole.get(key) for key in _PREFERENCE]
    rejected: tuple[Message, ...] | None = None
    if all(map(is_object, compared)):
        answers = [_turn(item, (f"/{key}",)) for key, item in zip(_PREFERENCE, compared, strict=True)]
        known = known | set(_PREFERENCE)
        rejected = (*messages, answers[1])
        messages.append(answers[0])
    label = whole.get("kto_tag")
    if isinstance(label, bool):
        known = known | {"kto_tag"}
    known = known | _show(messages, whole)
    tools = json_list(whole.get("tools"))
    return Transcript(
        tuple(messages),
        None if tools is None else tuple(_TOOLS.read_list(tools)),
        extra=rest(whole, known if tools is not None else known - {"tools"}, NAME),
        rejected=rejected,
        label=label if isinstance(label, bool) else None,
    )


def _turn(item: JsonValue, where: tuple[str, int] | tuple[str], called: int = 0) -> Message:
    """Read a turn; `called` is the number of calls in the previous turn."""
    message = read_turn(item, where, NAME)
    if message.role == "assistant" and is_object(item):
        message.parts = _answered(item, where)
    elif message.role == "tool" and called > 1:
        message.parts = _several(message.parts, called)
    return message


def _answered(item: JsonObject, where: tuple[str, int] | tuple[str]) -> tuple[Part, ...]:
    """Read the model's turn: reasoning, then calls or text."""
    thought, words = _thought(item.get("value", ""))
    if item["from"] != _CALLS:
        return (*thought, TextPart(words)) if words else thought
    try:
        calls = read_calls(words, NAME)
    except ParseError as error:
        raise located(pointer(where), error) from None
    return (*thought, *calls) if calls else (OpaquePart(NAME, item, (TextPart(words),) if words else ()),)


def _thought(text: str) -> tuple[tuple[Part, ...], str]:
    """Split off the reasoning at a text's beginning; blank reasoning does not count."""
    begun, _, words = text.partition("</think>")
    before, begins, thought = begun.partition("<think>")
    if begun == text or not begins or before.strip():
        return (), text
    return (ReasoningPart(thought.strip("\n")),) if thought.strip() else (), words.lstrip("\n")


def _show(messages: Sequence[Message], whole: JsonObject) -> frozenset[str]:
    """Place a row's media at the marks in its turns; return the keys that are read.

    Raises ParseError if there are more marks of a kind than files, or fewer, as LLaMA-Factory does.
    """
    files: dict[MediaKind, list[str]] = {
        kind: texts_at(whole, f"{kind}s") for kind in _KINDS if is_array(whole.get(f"{kind}s"))
    }
    shown = {kind: [from_url(address, kind) for address in found] for kind, found in files.items() if found}
    if shown:
        left: dict[str, Iterator[MediaPart]] = {kind: iter(found) for kind, found in shown.items()}
        for message in messages:
            if message.role != "system":
                message.parts = tuple(chain.from_iterable(_marked(part, left) for part in message.parts))
        for kind, found in left.items():
            if next(found, None) is not None:
                raise ParseError(f"/{kind}s: {len(shown[kind])} are given, and <{kind}> is in the turns less often")
    return frozenset(f"{kind}s" for kind in files)


def _marked(part: Part, left: Mapping[str, Iterator[MediaPart]]) -> Iterator[Any]:
    """Split a text at its marks."""
    if isinstance(part, ResultPart):
        yield replace(part, content=tuple(chain.from_iterable(_marked(found, left) for found in part.content)))
        return
    if not isinstance(part, TextPart):
        yield part
        return
    text = ""
    for at, piece in enumerate(_MARK.split(part.text)):
        if at % 2 == 0 or piece not in left:
            text += piece if at % 2 == 0 else f"<{piece}>"
            continue
        if text:
            yield TextPart(text)
        text, shown = "", next(left[piece], None)
        if shown is None:
            raise ParseError(f"/{piece}s: <{piece}> is in the turns more often than files are given")
        yield shown
    if text:
        yield TextPart(text)


def _several(parts: tuple[object, ...], called: int) -> tuple[ResultPart, ...]:
    """Split a JSON list with as many results as there were calls."""
    whole = tuple(part for part in parts if isinstance(part, ResultPart))
    found = json_list(texts(whole[0].content)) if whole else None
    if found is None or len(found) != called:
        return whole
    return tuple(ResultPart((TextPart(item) if isinstance(item, str) else JsonPart(item),)) for item in found)


def write(transcript: Transcript) -> JsonObject:
    """Write a row; two answers that differ only in one turn become `chosen` and `rejected`."""
    turns, system, shown = _turns(transcript.messages)
    value: JsonObject = {TURNS: turns, **own(transcript.extra, NAME)}
    if transcript.rejected is not None:
        others, _, _ = _turns(transcript.rejected)
        if turns and others and turns[:-1] == others[:-1] and _is_answer(turns[-1]) and _is_answer(others[-1]):
            value |= {TURNS: turns[:-1], "chosen": turns[-1], "rejected": others[-1]}
    if transcript.label is not None:
        value["kto_tag"] = transcript.label
    if system:
        value["system"] = "\n\n".join(system)
    if transcript.tools is not None:
        value["tools"] = json_text(_TOOLS.write_list(transcript.tools))
    for kind in _KINDS:
        if addresses := [to_url(part) for part in shown if part.kind == kind]:
            value[f"{kind}s"] = addresses
    return value


def _is_answer(turn: JsonValue) -> bool:
    return is_object(turn) and turn.get("from") in ("gpt", _CALLS)


def _turns(messages: Sequence[Message]) -> tuple[list[JsonValue], list[str], list[MediaPart]]:
    """Write the turns; also return the instructions and the media."""
    turns: list[JsonValue] = []
    system: list[str] = []
    shown: list[MediaPart] = []
    for message in messages:
        if message.role in ("system", "developer") and (message.origin != NAME or message.where == ("/system",)):
            system.append(texts(message.parts))
            continue
        turns.extend([message.source] if message.origin == NAME else _write(message))
        for part in message.parts:
            shown.extend(_media(part.content if isinstance(part, ResultPart) else (part,)))
    return turns, system, shown


def _media(parts: Iterable[object]) -> Iterator[MediaPart]:
    return (part for part in parts if isinstance(part, MediaPart) and part.kind in _KINDS and to_url(part) is not None)


def _write(message: Message) -> list[JsonValue]:
    calls = call_objects(message.parts)
    results = [_content(part.content) for part in message.parts if isinstance(part, ResultPart)]
    name = _CALLS if calls else _NAMES[message.role]
    if calls:
        text = json_text(calls[0] if len(calls) == 1 else calls)
    elif results:
        first = results[0]
        text = json_text(results) if len(results) > 1 else first if isinstance(first, str) else json_text(first)
    else:
        text = _said(part for part in message.parts if isinstance(part, (TextPart, MediaPart)))
    thoughts = "\n\n".join(part.text for part in message.parts if isinstance(part, ReasoningPart) and part.text)
    if thoughts and message.role == "assistant":
        text = f"<think>\n{thoughts}\n</think>\n\n{text}"
    return [{"from": name, "value": text, **own(message.extra, NAME)}] if text or results or not message.parts else []


def _content(content: tuple[Content, ...]) -> JsonValue:
    if len(content) == 1 and isinstance(content[0], JsonPart):
        return content[0].value
    return _said(content)


def _said(parts: Iterable[object]) -> str:
    """Write texts with blank lines between them, and marks for media."""
    text, before = "", False
    for part in parts:
        mark = next((f"<{found.kind}>" for found in _media((part,))), "")
        written = mark or content_text([part])
        text += "\n\n" + written if before and written and not mark else written
        before = bool(written) and not mark
    return text


def recognise(value: JsonValue) -> bool:
    """Recognise a row by turns of calls or observations, or by turns beside tools, files or answers."""
    turns = value.get(TURNS) if is_object(value) else value
    if not is_array(turns):
        return False
    names = {item.get("from") for item in turns if is_object(item) and isinstance(item.get("from"), str)}
    return bool(names & {_CALLS, "observation"}) or (
        is_object(value) and bool(names) and not value.keys().isdisjoint({"tools", *_PREFERENCE, *_LISTS})
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="ShareGPT rows as LLaMA-Factory trains on them: function_call and observation.",
    read=read,
    write=write,
    recognise=recognise,
    common=1,
    messages=TURNS,
    rated=True,
    rules=Rules(
        trained=True,
        answered=True,
        roles=frozenset({"system", "user", "assistant", "tool"}),
        system="first",
        call_ids="none",
        results_in_order=True,
        result_kinds=frozenset({"text", "json", *_KINDS}),
        user_kinds=frozenset({"text", *_KINDS}),
        neighbours="joined",
        user_first=True,
        interleaved=False,
        empty_messages=False,
        arguments="object",
    ),
    aliases=("llamafactory", "llama-factory"),
    sources=(
        Provenance("hiyouga/LLaMA-Factory, data/README.md", "documentation"),
        Provenance("hiyouga/LLaMA-Factory, src/llamafactory/data/formatter.py", "source", "", "Apache-2.0"),
    ),
)
