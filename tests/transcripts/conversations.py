"""Conversations for the laws: written by hand, one trait each, and drawn at random, in the hub's own records."""

from __future__ import annotations

from hypothesis import strategies as st

from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WEATHER = ToolDeclaration(
    "get_weather",
    "Get the weather",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def call(ident: str | None = "call_1", name: str = "get_weather", text: str = '{"city":"Paris"}') -> CallPart:
    return CallPart(name, text=text, id=ident)


def result(
    ident: str | None = "call_1", text: str = "18C", *, name: str = "get_weather", is_error: bool = False
) -> ResultPart:
    return ResultPart((TextPart(text),), ident, name, is_error)


def asked(*messages: Message, **request: object) -> Transcript:
    return Transcript((Message("user", (TextPart("Weather in Paris?"),)), *messages), **request)  # type: ignore[arg-type]


def answered(*parts: Part) -> Message:
    return Message("assistant", parts)


def tool(*parts: ResultPart) -> tuple[Message, ...]:
    return tuple(Message("tool", (part,)) for part in parts)


BY_HAND: dict[str, Transcript] = {
    "one call": asked(answered(call()), *tool(result()), answered(TextPart("18C."))),
    "instructions": Transcript((Message("system", (TextPart("Be brief."),)), *asked().messages)),
    "text beside calls": asked(answered(TextPart("Checking."), call()), *tool(result()), answered(TextPart("Done."))),
    "parallel": asked(answered(call("a"), call("b")), *tool(result("a"), result("b")), answered(TextPart("Done."))),
    "out of order": asked(answered(call("a"), call("b")), *tool(result("b", "2"), result("a", "1"))),
    "an error": asked(answered(call()), *tool(result(is_error=True)), answered(TextPart("No."))),
    "a result of JSON": asked(
        answered(call()), *tool(ResultPart((JsonPart({"degrees": 18}),), "call_1", "get_weather"))
    ),
    "an image": Transcript(
        (Message("user", (TextPart("What is it?"), MediaPart("image", "image/png", PNG), TextPart("Say."))),)
    ),
    "an image in a result": asked(
        answered(call()),
        Message("tool", (ResultPart((TextPart("see"), MediaPart("image", "image/png", PNG)), "call_1"),)),
    ),
    "reasoning": asked(answered(ReasoningPart("One call."), call()), *tool(result()), answered(TextPart("18C."))),
    "an id that others refuse": asked(answered(call("call|1:x")), *tool(result("call|1:x"))),
    "an id used again": asked(
        answered(call()),
        *tool(result()),
        answered(TextPart("18C.")),
        *asked(answered(call())).messages,
        *tool(result()),
    ),
    "a name with dots": asked(answered(call(name="weather.get")), *tool(result(name="weather.get"))),
    "a long name": asked(answered(call(name="weather_" * 20)), *tool(result(name="weather_" * 20))),
    "broken arguments": asked(answered(call(text='{"city": ')), *tool(result())),
    "spaced arguments": asked(answered(call(text='{ "city" : "Paris" }')), *tool(result())),
    "no arguments": asked(answered(call(text="")), *tool(result())),
    "big numbers": asked(
        answered(call(text='{"n":123456789012345678901234567890,"z":-0.0,"f":1e400}')), *tool(result())
    ),
    "neighbours": asked(*asked().messages, answered(TextPart("One.")), answered(TextPart("Two."))),
    "instructions in the middle": asked(
        answered(TextPart("Yes.")), Message("system", (TextPart("Be rude."),)), *asked().messages
    ),
    "white space": asked(answered(TextPart("  a  ")), *asked().messages),
    "nothing said": asked(answered(), *asked().messages),
    "unanswered": asked(answered(call())),
    "declared": asked(tools=(WEATHER,), tool_choice=ToolChoice("required", ("get_weather",)), parallel=False),
    "several chosen": asked(tools=(WEATHER,), tool_choice=ToolChoice("auto", ("get_weather",))),
}

_texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30)
_ids = st.one_of(
    st.from_regex(r"call_[a-z0-9]{1,6}", fullmatch=True), st.from_regex(r"[A-Za-z0-9:|.-]{1,50}", fullmatch=True)
)
_arguments = st.one_of(
    st.dictionaries(
        st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.none()), max_size=3
    ).map(lambda value: CallPart("", value)),
    st.sampled_from(['{"a": 1}', "", "{", "null", '{"a":1,"a":2}', "[]"]).map(lambda text: CallPart("", text=text)),
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Draw a conversation that a provider would accept: turns of the user's, calls, their results, answers."""
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message("system", (TextPart(draw(_texts)),)))
    for turn in range(draw(st.integers(1, 4))):
        # A conversation whose user says nothing but white space is refused by some, and has a test of its own.
        messages.append(Message("user", (TextPart(draw(_texts if turn else _texts.filter(str.strip))),)))
        said: list[Part] = []
        if draw(st.booleans()):
            said.append(ReasoningPart(draw(_texts)))
        if draw(st.booleans()):
            said.append(TextPart(draw(_texts)))
        names = draw(st.lists(st.sampled_from(["get", "get_weather", "a.b", "x" * 70]), max_size=3))
        calls: list[CallPart] = []
        for number, name in enumerate(names):
            drawn = draw(_arguments)
            calls.append(CallPart(name, drawn.arguments, drawn.text, f"{draw(_ids)}{turn}{number}"[-40:]))
        if said or calls:
            messages.append(Message("assistant", (*said, *calls)))
        results = [ResultPart((TextPart(draw(_texts)),), made.id, made.name, draw(st.booleans())) for made in calls]
        messages.extend(tool(*draw(st.permutations(results))))
        if calls:
            messages.append(Message("assistant", (TextPart(draw(_texts)),)))
    return Transcript(tuple(messages))
