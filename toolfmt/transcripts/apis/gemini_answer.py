"""Gemini's answers and chunks, which have the same shape; calls come whole, or value by value.

{"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": true}, {"text": "Hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 12}, "modelVersion": "gemini-3-pro", "responseId": "r1"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, TokenCounting, endings
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.known_fields import ERROR, Chosen, Fields, fields
from toolfmt.transcripts.answering.partial_arguments import PartialArguments
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock
from toolfmt.transcripts.families.gemini_parts import OWNER, PROVIDER, camel, snake
from toolfmt.transcripts.parts.endings import Stop
from toolfmt.transcripts.parts.values import inner, object_at, objects_at, rest, word
from toolfmt.transcripts.tables.request import objects_in

_COUNT: Final = TokenCounting(
    {
        "input": "promptTokenCount",
        "cached": "cachedContentTokenCount",
        "output": "candidatesTokenCount",
        "reasoning": "thoughtsTokenCount",
        "total": "totalTokenCount",
    },
    beside=("reasoning",),
    further="toolUsePromptTokenCount",
)
_STOPS: Final = endings(
    "STOP", length="MAX_TOKENS", content_filter="SAFETY", pause="OTHER", malformed_call="MALFORMED_FUNCTION_CALL"
)
_KEYS: Final = frozenset({"candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"})
_TOKEN: Final = fields("token logProbability")
_CANDIDATE: Final = fields(
    "content index finishReason finishMessage",
    logprobsResult=fields("", chosenCandidates=_TOKEN, topCandidates=fields("", candidates=_TOKEN)),
    groundingMetadata=fields("groundingChunks", groundingSupports=fields("segment groundingChunkIndices")),
    citationMetadata=fields("citationSources citations"),
)
_AROUND: Final = fields(
    "modelVersion responseId",
    usageMetadata=_COUNT.known,
    promptFeedback=fields("blockReason safetyRatings"),
    candidates=_CANDIDATE,
    error=ERROR,
)
_CALL: Final = fields("id name args partialArgs willContinue")


def _part_fields(part: JsonObject) -> Fields | None:
    """Return the known fields of a part; other kinds are reported as a whole."""
    known = part.get("text") is not None or not part.keys().isdisjoint(("functionCall", "function_call"))
    return _both(fields("text thought thoughtSignature", functionCall=_CALL)) if known else None


def _both(known: Fields) -> Fields:
    """Add the spelling with underscores of each key."""
    both: dict[str, Fields | Chosen | None] = {}
    for key, inside in known.items():
        both[key] = both[snake(key)] = inside if inside is None or callable(inside) else _both(inside)
    return both


_KNOWN: Final = _both({**_AROUND, "candidates": {**_CANDIDATE, "content": fields("role", parts=_part_fields)}})
_BROKEN: Final[Mapping[JsonValue, str]] = {
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "unknown_tool",
}
"""The finish reasons of answers that omit a call, each with the call's fault."""


def _read(value: JsonObject, made: Assembler) -> None:
    value = _spelt(value)
    if not made.info.id:
        made.about(value.get("responseId"), value.get("modelVersion"))
    feedback = _spelt(inner(value, "promptFeedback"))
    if blocked := _named(feedback.get("blockReason")):
        made.blocked(blocked)
    for at, candidate in enumerate(map(_spelt, objects_at(value, "candidates"))):
        if candidate.get("index", at):
            made.note("choice", str(candidate.get("index", at)))
            continue  # an alternative answer
        made.logprobs(_probable(candidate))
        for part in map(_spelt, objects_at(object_at(candidate, "content"), "parts")):
            _part(part, made)
        _ground(candidate, made)
        reason = _named(candidate.get("finishReason"))
        if reason in _BROKEN:
            message = str(candidate.get("finishMessage") or "")
            made.broken(message, _BROKEN[reason], f"{reason}: {message}" if message else str(reason))
        made.ended(reason)
    if value.get("usageMetadata"):
        made.tokens(_spelt(inner(value, "usageMetadata")), _COUNT.read)


def _whole(events: list[JsonObject]) -> JsonObject | None:
    """Put the parts of a stream together; texts that follow each other become one."""
    candidate: JsonObject = {}
    parts: list[JsonObject] = []
    for value in events:
        for at, found in enumerate(map(_spelt, objects_at(value, "candidates"))):
            if found.get("index", at):
                return None
            candidate |= found
            for part in map(_spelt, objects_at(object_at(found, "content"), "parts")):
                last = parts[-1] if parts else {}
                before, text = last.get("text"), part.get("text")
                if part.keys() <= {"text", "thought"} and part | {"text": before} == last and text is not None:
                    parts[-1] = last | {"text": f"{before}{text}"}
                else:
                    parts.append(part)
    return {"candidates": [candidate | {"content": {"role": "model", "parts": parts}}]}


def _probable(candidate: JsonObject) -> list[JsonValue]:
    """Read the probabilities of the text's tokens, each with those of the most likely ones, in OpenAI's form."""
    result = _spelt(inner(candidate, "logprobsResult"))
    tops = [objects_in(_spelt(top), "candidates") for top in objects_in(result, "topCandidates")]
    chosen = objects_in(result, "chosenCandidates")
    return [
        {**_token(one), "top_logprobs": [*map(_token, tops[at] if at < len(tops) else ())]}
        for at, one in enumerate(chosen)
    ]


def _token(item: JsonObject) -> JsonObject:
    text = word(item, "token")
    encoded = list(text.encode("utf-8", "surrogatepass"))
    return {"token": text, "logprob": _spelt(item).get("logProbability"), "bytes": encoded}


def _weighed(tokens: Sequence[JsonObject]) -> JsonObject:
    """Write the probabilities of tokens as a field of a candidate, if there are any."""
    if not tokens:
        return {}
    result: JsonObject = {"chosenCandidates": [*map(_probability, tokens)]}
    if any(token.get("top_logprobs") for token in tokens):
        result["topCandidates"] = [
            {"candidates": [*map(_probability, objects_in(token, "top_logprobs"))]} for token in tokens
        ]
    return {"logprobsResult": result}


def _probability(token: JsonObject) -> JsonObject:
    return {"token": token.get("token"), "logProbability": token.get("logprob")}


def _named(word: JsonValue) -> JsonValue:
    """Return a word as plain text; the SDK's enumeration members format as class and name."""
    return str.__str__(word) if isinstance(word, str) else word


def _ground(candidate: JsonObject, made: Assembler) -> None:
    """Read the sources of pieces of the text, whose places are counted in UTF-8 bytes."""
    grounds, quoted = inner(candidate, "groundingMetadata"), inner(candidate, "citationMetadata")
    chunks = objects_in(grounds, "groundingChunks")
    pages = [next((inner(chunk, key) for key in chunk if chunk[key]), inner(chunk, "")) for chunk in chunks]
    found = [(source, source) for key in ("citationSources", "citations") for source in objects_in(quoted, key)]
    for support in objects_in(grounds, "groundingSupports"):
        segment, numbers = inner(support, "segment"), support.get("groundingChunkIndices")
        given = numbers if is_array(numbers) else ()
        found += [(segment, pages[at] if isinstance(at, int) and at < len(pages) else {}) for at in given]
    text = made.spoken.encode("utf-8", "surrogatepass") if found else b""
    for segment, page in found:
        places = {
            key: len(text[: segment.get(given) or 0].decode("utf-8", "ignore"))
            for key, given in (("start_index", "startIndex"), ("end_index", "endIndex"))
        }
        about = {"url": page["uri"], "title": page.get("title") or ""} if page.get("uri") else rest(page, set(), OWNER)
        made.cite({"type": "url_citation" if "url" in about else "citation", **about, **places})


def _part(part: JsonObject, made: Assembler) -> None:
    signature = part.get("thoughtSignature")
    if part.get("functionCall") is not None:
        _call(_spelt(object_at(part, "functionCall")), (PROVIDER, signature), made)
        return
    if part.get("text") is None:
        made.note("provider_part", ", ".join(key for key, value in part.items() if value is not None))
    (made.reasoning if part.get("thought") else made.text)(part.get("text"))
    if signature:
        made.prove(PROVIDER, signature)


def _call(call: JsonObject, signed: tuple[str, JsonValue], made: Assembler) -> None:
    partial = made.partial
    if partial is None:
        if not call.get("willContinue") and not call.get("partialArgs"):
            made.whole_call(call.get("name"), call.get("id"), call.get("args") or {}, signed)
            return
        made.partial = partial = PartialArguments()
        made.call(partial, call.get("name"), call.get("id"), form="value", signed=signed)
    for item in map(_spelt, objects_at(call, "partialArgs")):
        partial.add(item)
    if not call.get("willContinue"):
        made.partial = None
        whole = partial.whole()
        made.arguments(partial, whole)
        made.end(partial, cut=whole is None)


def _spelt(item: JsonObject) -> JsonObject:
    """Convert the keys to camelCase; most values already have them."""
    return camel(item) if "_" in "".join(item) else item


def _open(value: JsonObject) -> list[JsonValue]:
    contents = [inner(camel(candidate), "content") for candidate in objects_in(camel(value), "candidates")]
    return [{"contents": [{"parts": [], **content, "role": "model"}]} for content in contents]


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    candidates = [_candidate(at, only(messages), ending.stop) for at, messages in enumerate(choices)]
    if any(choices):
        candidates[0] |= _weighed(ending.info.logprobs)
    return {"candidates": candidates, **ending.counted("usageMetadata", _COUNT), **_about(ending.head)}


def _candidate(at: int, content: JsonObject, stop: Stop | None = None) -> JsonObject:
    reason = {} if stop is None else {"finishReason": _STOPS[stop]}
    return {"content": {"role": "model", "parts": [], **content}, **reason, "index": at}


def _about(head: AnswerHead) -> JsonObject:
    about = {"modelVersion": head.model, "responseId": head.id}
    return {key: found for key, found in about.items() if found}


def _chunk(block: StreamBlock, **part: JsonValue) -> list[JsonObject]:
    return [{"candidates": [_candidate(0, {"parts": [part]})], **_about(block.head)}]


def _text(block: StreamBlock, text: str) -> list[JsonObject]:
    (chunk,) = _chunk(block, text=text)
    chunk["candidates"][0] |= _weighed(block.fresh)
    return [chunk]


def _write_call(block: StreamBlock) -> list[JsonObject]:
    call = block.call
    if call is None:
        return []
    made: JsonObject = ({"id": call.id} if call.id else {}) | {"name": call.name, "args": call.arguments}
    signed: JsonObject = {"thoughtSignature": block.signature} if block.signature else {}
    return _chunk(block, functionCall=made, **signed)


API: Final = AnswerApi(
    name=OWNER,
    shapes=(StepShape(lambda value: not value.keys().isdisjoint(_KEYS), _read, _KNOWN),),
    open=_open,
    whole=_whole,
    close=_close,
    known=_both(_AROUND),
    choices="candidates",
    weights="/candidates/0/logprobsResult",
    several=True,
    stream=Blocks(
        owner=PROVIDER,
        signs=PROVIDER,
        call_prefix="",
        logprobs=True,
        interleaved=True,
        delta={"text": _text, "reasoning": lambda block, text: _chunk(block, text=text, thought=True)},
        end={"call": _write_call},
        # A signature is in an empty thought after the signed part.
        prove=lambda block, proof: _chunk(block, text="", thought=True, thoughtSignature=proof.signature),
        finish=lambda ending, _: [_close([[]], ending)],
        fail=lambda _, failure, __: [WRITERS[OWNER](failure)],
    ),
)
