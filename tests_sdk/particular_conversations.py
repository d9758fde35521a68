"""Conversations with one trait each that few formats share: media of all kinds, owners, declarations, choices."""

from __future__ import annotations

from itertools import product

from conversations import PNG, WEATHER, answered, asked, call, result, tool

from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)

MEDIA = {
    "image": MediaPart("image", "image/png", PNG, detail="low"),
    "audio": MediaPart("audio", "audio/wav", "UklGRiQAAABXQVZF"),
    "video": MediaPart("video", "video/mp4", "AAAAIGZ0eXA="),
    "document": MediaPart("document", "application/pdf", "JVBERi0=", name="report.v2.pdf"),
    "text document": MediaPart("document", "text/plain", "SGk="),
    "strange type": MediaPart("document", "application/x-unheard-of", "SGk="),
    "image address": MediaPart("image", url="https://example.com/a.png"),
    "document address": MediaPart("document", url="https://example.com/a.pdf", name="a"),
    "audio address": MediaPart("audio", "audio/mpeg", url="https://example.com/a.mp3"),
    "openai file": MediaPart("document", file_id="file-1", owner="openai"),
    "anthropic file": MediaPart("image", file_id="file_1", owner="anthropic"),
    "google file": MediaPart("video", "video/mp4", file_id="gs://bucket/a.mp4", owner="google"),
    "bedrock file": MediaPart("image", "image/png", file_id="s3://bucket/a.png", owner="bedrock"),
}
OWNERS = ("", "anthropic", "bedrock", "google", "mistral", "openai")
MARK = {"cache_control": {"type": "ephemeral"}}
CITED = TextPart(
    "18C", ({"type": "url_citation", "url": "https://e.com", "title": "t", "start_index": 0, "end_index": 3},)
)
QUOTED = TextPart(
    "18C",
    (
        {
            "type": "char_location",
            "cited_text": "18C",
            "document_index": 0,
            "document_title": "t",
            "start_char_index": 0,
            "end_char_index": 3,
        },
    ),
)
SQL = ToolDeclaration("sql", "Runs it", {"type": "grammar", "syntax": "lark", "definition": "start: X"}, "custom")
CUSTOM = CallPart("sql", text="SELECT 1;", id="call_1", custom=True)
TOOLS = {
    "plain": WEATHER,
    "bare": ToolDeclaration("get_weather"),
    "any": ToolDeclaration("get_weather", "Get", {}),
    "strict": ToolDeclaration("get_weather", None, WEATHER.parameters, strict=True),
    "marked": ToolDeclaration("get_weather", None, WEATHER.parameters, extra=MARK),
    "in a space": ToolDeclaration("get_weather", None, WEATHER.parameters, namespace="geo"),
    "free text": SQL,
    "free text without a grammar": ToolDeclaration("sql", kind="custom"),
}
CHOICES = {
    "auto": ToolChoice("auto"),
    "none": ToolChoice("none"),
    "required": ToolChoice("required"),
    "one": ToolChoice("required", ("get_weather",)),
    "free text": ToolChoice("required", ("sql",)),
    "several": ToolChoice("required", ("get_weather", "sql")),
    "allowed": ToolChoice("auto", ("get_weather", "sql")),
}

TRAITS: dict[str, Transcript] = {
    "a speaker": Transcript(
        (Message("user", (TextPart("Hi"),), "Ann"), Message("assistant", (TextPart("Hi"),), "Bob"))
    ),
    "a developer": Transcript((Message("developer", (TextPart("Be brief."),)), *asked().messages)),
    "instructions twice": Transcript(
        (Message("system", (TextPart("a"), TextPart("b"))), Message("system", (TextPart("c"),)), *asked().messages)
    ),
    "a refusal": asked(answered(RefusalPart("No.")), *asked().messages),
    "a refusal beside text": asked(answered(TextPart("Hm."), RefusalPart("No.")), *asked().messages),
    "several texts": asked(answered(TextPart("a"), TextPart("b"), call()), *tool(result())),
    "text behind calls": asked(answered(call(), TextPart("Wait.")), *tool(result())),
    "an empty text": asked(answered(TextPart("")), *asked().messages),
    "citations": asked(answered(CITED), *asked().messages),
    "quotations": asked(answered(QUOTED), *asked().messages),
    "a marked text": Transcript((Message("user", (TextPart("Hi", extra=MARK),)),)),
    "an empty result": asked(answered(call()), Message("tool", (ResultPart((), "call_1"),))),
    "a JSON result": asked(answered(call()), Message("tool", (ResultPart((JsonPart({"temp": 18}),), "call_1"),))),
    "a JSON list": asked(answered(call()), Message("tool", (ResultPart((JsonPart([18]),), "call_1"),))),
    "several result texts": asked(
        answered(call()), Message("tool", (ResultPart((TextPart("a"), TextPart("b")), "call_1"),))
    ),
    "a failed result of JSON": asked(
        answered(call()), Message("tool", (ResultPart((JsonPart({"a": 1}),), "call_1", is_error=True),))
    ),
    "no ids": asked(answered(call(None), call(None)), *tool(result(None), result(None))),
    "free text": asked(
        answered(CUSTOM), Message("tool", (ResultPart((TextPart("1"),), "call_1", custom=True),)), tools=(SQL,)
    ),
    "one call at a time": asked(tools=(WEATHER,), parallel=False),
    "several at a time": asked(tools=(WEATHER,), parallel=True),
    "no tools": asked(tools=()),
    "a choice without tools": asked(tool_choice=ToolChoice("required")),
    "a call in a space": asked(answered(CallPart("get", {}, id="call_1", namespace="geo")), *tool(result())),
}
for _name, _part in MEDIA.items():
    TRAITS[f"a user's {_name}"] = Transcript((Message("user", (TextPart("See"), _part)),))
    TRAITS[f"nothing but a user's {_name}"] = Transcript((Message("user", (_part,)),))
    TRAITS[f"a result's {_name}"] = asked(
        answered(call()), Message("tool", (ResultPart((TextPart("see"), _part), "call_1", "get_weather"),))
    )
    TRAITS[f"an answer's {_name}"] = asked(answered(TextPart("See"), _part), *asked().messages)
for _owner in OWNERS:
    TRAITS[f"thoughts signed by {_owner}"] = asked(
        answered(ReasoningPart("Hm.", "c2ln", None, _owner), call()), *tool(result()), answered(TextPart("18C."))
    )
    TRAITS[f"thoughts hidden by {_owner}"] = asked(
        answered(ReasoningPart("", None, "c2ln", _owner), call()), *tool(result()), answered(TextPart("18C."))
    )
    TRAITS[f"a call signed by {_owner}"] = asked(
        answered(CallPart("f", {"a": 1}, id="call_1", signature="c2ln", owner=_owner)), *tool(result())
    )
for (_kind, _tool), (_mode, _choice) in product(TOOLS.items(), CHOICES.items()):
    TRAITS[f"the tool {_kind}, chosen {_mode}"] = asked(tools=(_tool,), tool_choice=_choice)
