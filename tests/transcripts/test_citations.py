"""Citations go from each format's words to each other's, and files keep their data and have a name."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from toolfmt import check, convert
from toolfmt.conversation import MediaPart, TextPart
from toolfmt.events import ReasoningDelta, TextDelta
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Cited
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.parts.citations import source as understood
from toolfmt.transcripts.parts.media import file_name, file_of, known_type, media_type_in, media_type_of
from toolfmt.transcripts.parts.values import lacking

ASKED: dict[str, Any] = {"role": "user", "content": "What is new?"}
PAGE = {"url": "https://e.com/a", "title": "News", "start_index": 0, "end_index": 8}
CITED: dict[str, Any] = {
    "openai-chat": [
        ASKED,
        {"role": "assistant", "content": "It rains.", "annotations": [{"type": "url_citation", "url_citation": PAGE}]},
    ],
    "openai-responses": [
        ASKED,
        {
            "role": "assistant",
            "type": "message",
            "content": [
                {"type": "output_text", "text": "It rains.", "annotations": [{"type": "url_citation", **PAGE}]}
            ],
        },
    ],
    "anthropic": [
        ASKED,
        {
            "role": "assistant",
            "content": [
                {
                    "type": "text",
                    "text": "It rains.",
                    "citations": [
                        {
                            "type": "web_search_result_location",
                            "url": "https://e.com/a",
                            "title": "News",
                            "cited_text": "rain",
                            "encrypted_index": "c2VjcmV0",
                        }
                    ],
                }
            ],
        },
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "What is new?"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "citationsContent": {
                        "content": [{"text": "It rains."}],
                        "citations": [
                            {
                                "title": "News",
                                "sourceContent": [{"text": "rain"}],
                                "location": {"web": {"url": "https://e.com/a"}},
                            }
                        ],
                    }
                }
            ],
        },
    ],
}
TARGETS = ("openai-chat", "openai-responses", "bedrock", "gemini-interactions", "pydantic-ai", "langchain", "inspect")


@pytest.mark.parametrize("source", CITED)
@pytest.mark.parametrize("target", TARGETS)
def test_a_page_that_is_cited_stays_cited(source: str, target: str) -> None:
    if source == target:
        return
    there = convert(CITED[source], source=source, target=target)
    assert check(there.value, format=target) == ()
    (part,) = find(target).read(there.value).messages[1].parts
    (citation,) = part.citations  # type: ignore[union-attr]
    said = understood(citation)
    assert (said["url"], said["title"]) == ("https://e.com/a", "News")
    assert convert(there.value, source=target, target=source, residue=there.residue).value == CITED[source]


def test_the_same_in_other_words_is_no_loss() -> None:
    there = convert(CITED["openai-chat"], source="openai-chat", target="openai-responses")
    assert there.all_losses == ()
    back = convert(there.value, source="openai-responses", target="openai-chat")
    assert back.value["messages"] == CITED["openai-chat"]


def test_what_only_its_maker_can_check_is_a_loss() -> None:
    there = convert(CITED["openai-chat"], source="openai-chat", target="anthropic")
    assert [(loss.code, loss.action) for loss in there.losses] == [("citations", "dropped")]


def test_a_citation_is_about_the_text_that_it_is_in() -> None:
    second = {"type": "url_citation", "url_citation": {**PAGE, "start_index": 9, "end_index": 13}}
    value = [
        ASKED,
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "It rains."}, {"type": "text", "text": "Hard."}],
            "annotations": [{"type": "url_citation", "url_citation": PAGE}, second],
        },
    ]
    there = convert(value, source="openai-chat", target="openai-responses").value
    texts = there["input"][1]["content"]
    assert [[found["start_index"] for found in text["annotations"]] for text in texts] == [[0], [0]]
    back = convert(there, source="openai-responses", target="openai-chat").value
    assert back["messages"] == value


@pytest.mark.parametrize(
    ("start", "end", "placed"),
    [(0, 9, True), (8, 9, True), (0, 10, False), (3, 3, False), (4, 3, False), (-1, 3, False)],
)
def test_a_part_of_a_text_is_an_anchor_for_pydantic_ai(start: int, end: int, placed: bool) -> None:  # noqa: FBT001
    cited = {"type": "url_citation", "url_citation": {**PAGE, "start_index": start, "end_index": end}}
    value = [ASKED, {"role": "assistant", "content": "It rains.", "annotations": [cited]}]
    made: Any = convert(value, source="openai-chat", target="pydantic-ai").value
    (found,) = anchors(made)
    assert found == ({"start": start, "end": end, "kind": "content"} if placed else None)


def anchors(value: Any) -> list[Any]:
    """List the anchors in a value, at any depth."""
    if isinstance(value, dict):
        return [value["anchor"]] if "anchor" in value else [one for item in value.values() for one in anchors(item)]
    return [one for item in value for one in anchors(item)] if isinstance(value, list) else []


def test_a_citation_without_a_place_is_about_the_whole_text() -> None:
    made: Any = convert(CITED["anthropic"], source="anthropic", target="openai-responses").value
    ((found,),) = [block["annotations"] for block in made["input"][1]["content"]]
    assert (found["start_index"], found["end_index"]) == (0, len("It rains."))


def test_a_citation_of_the_second_of_two_short_texts_stays_there() -> None:
    texts = [TextDelta("A", 0), ReasoningDelta("Hm.", 1), TextDelta("B", 4)]
    for before in (0, 1):
        info = AnswerInfo(citations=[Cited({"url": "https://e.com/a"}, before)])
        parts = [part for part in answer_message(texts, info).parts if isinstance(part, TextPart)]
        assert [bool(part.citations) for part in parts] == [before == 0, before == 1]


def test_a_field_of_a_citation_without_a_value_is_no_loss() -> None:
    cited = CITED["anthropic"][1]["content"][0]["citations"][0] | {"file_id": None, "note": ""}
    assert lacking(cited, [understood(cited)]) == ["encrypted_index"]
    assert lacking({"n": 1, "same": "x"}, [True, "x"]) == ["n"]


def test_a_place_is_a_number() -> None:
    assert "start" not in understood({"url": "https://e.com", "start_index": True})
    assert understood({"url": "https://e.com", "start_index": 0})["start"] == 0
    assert "url" not in understood({"url": "e.com"})
    assert understood({"url": "", "uri": "https://e.com"})["url"] == "https://e.com"


DATA = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x00\x00\n\x00WEBPVP8 ",
    "audio/wav": b"RIFF\x00\x00\n\x00WAVEfmt ",
    "audio/mp3": b"ID3\x04",
    "application/pdf": b"%PDF-1.7",
}


@pytest.mark.parametrize("media_type", DATA)
def test_data_show_their_type(media_type: str) -> None:
    data = b64encode(DATA[media_type] + bytes(range(30))).decode()
    major = media_type.partition("/")[0]
    part = file_of(data, None)
    assert (part.media_type, part.kind) == (media_type, "document" if major == "application" else major)
    assert part.data == data
    named = file_of(data, "a.csv")
    assert (named.media_type, named.kind) == ("text/csv", "document")
    address = file_of(f"https://e.com/a/{'b' * 40}.png", None)
    assert (address.url, address.data) == (f"https://e.com/a/{'b' * 40}.png", None)


def test_what_shows_no_type_has_none() -> None:
    for data in (
        "",
        "!",
        b64encode(b"GIF88a").decode(),
        b64encode(b"x%PDF-").decode(),
        b64encode(b"RIFFWAVE").decode(),
    ):
        assert media_type_in(data) == ""


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.PNG", "image/png"), ("https://e.com/a.jpg?w=1.5#b.c", "image/jpeg"), ("a.tar", ""), ("", "")],
)
def test_the_ending_of_a_name_shows_a_type(name: str, media_type: str) -> None:
    assert media_type_of(name) == media_type


def test_a_file_without_a_name_gets_one_of_its_type() -> None:
    for media_type, name in (("text/csv", "document.csv"), ("TEXT/CSV; charset=utf-8", "document.csv")):
        assert file_name(MediaPart("document", media_type, "AAAA")) == name
    assert file_name(MediaPart("document", "text/csv", "AAAA", name="b.txt")) == "b.txt"
    assert known_type(MediaPart("document", url="https://e.com/a")) == "application/octet-stream"
    assert known_type(MediaPart("image", url="https://e.com/a")) == "image/*"
    assert known_type(MediaPart("image", url="https://e.com/a.gif")) == "image/gif"


@pytest.mark.parametrize("prefix", ["", "data:application/pdf;base64,"])
def test_a_file_s_data_is_data_and_has_a_name(prefix: str) -> None:
    file = {"type": "file", "file": {"file_data": f"{prefix}JVBERi0xLjQK"}}
    value = [{"role": "user", "content": [{"type": "text", "text": "Sum up."}, file]}]
    there = convert(value, source="openai-chat", target="anthropic").value["messages"][0]["content"][1]
    assert there["source"] == {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}
    ours = convert(value, source="openai-chat", target="openai-responses").value["input"][0]["content"][1]
    assert ours["file_data"] == "data:application/pdf;base64,JVBERi0xLjQK"
    assert ours["filename"] == "document.pdf"


def test_a_thought_has_no_cache_mark() -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln", "cache_control": {"type": "ephemeral"}}
    value = [ASKED, {"role": "assistant", "content": [block, {"type": "text", "text": "Hi"}]}, ASKED]
    there = convert(value, source="anthropic", target="openai-chat")
    back = convert([*there.value["messages"], ASKED], source="openai-chat", target="anthropic", residue=there.residue)
    assert back.value[:3] == value
    read = find("anthropic").read(value)
    read.messages[1].origin = ""
    assert "cache_control" not in str(find("anthropic").write(read))


SPANS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"type": "char_location", "document_index": 0, "start_char_index": 1, "end_char_index": 5},
        {"documentChar": {"documentIndex": 0, "start": 1, "end": 5}},
    ),
    (
        {"type": "page_location", "document_index": 1, "start_page_number": 2, "end_page_number": 3},
        {"documentPage": {"documentIndex": 1, "start": 2, "end": 3}},
    ),
    (
        {"type": "content_block_location", "document_index": 0, "start_block_index": 0, "end_block_index": 1},
        {"documentChunk": {"documentIndex": 0, "start": 0, "end": 1}},
    ),
]


@pytest.mark.parametrize(("place", "location"), SPANS)
def test_a_place_in_a_document_is_cited_by_anthropic_and_bedrock(
    place: dict[str, Any], location: dict[str, Any]
) -> None:
    ours = {**place, "cited_text": "rain", "document_title": "News"}
    block = {"type": "text", "text": "It rains.", "citations": [ours]}
    there: Any = convert([ASKED, {"role": "assistant", "content": [block]}], source="anthropic", target="bedrock")
    theirs = {"title": "News", "sourceContent": [{"text": "rain"}], "location": location}
    (cited,) = there.value["messages"][1]["content"]
    assert cited == {"citationsContent": {"content": [{"text": "It rains."}], "citations": [theirs]}}
    back: Any = convert(there.value, source="bedrock", target="anthropic")
    assert back.value["messages"][1]["content"] == [block]
    assert (there.all_losses, back.all_losses) == ((), ())


def test_a_search_result_is_the_same_to_anthropic_and_bedrock() -> None:
    about = {"source": "https://e.com", "title": "News", "citations": {"enabled": True}}
    ours = {"type": "search_result", **about, "content": [{"type": "text", "text": "needle"}]}
    there: Any = convert([{"role": "user", "content": [ours]}], source="anthropic", target="bedrock")
    assert there.value["messages"][0]["content"] == [{"searchResult": {**about, "content": [{"text": "needle"}]}}]
    back: Any = convert(there.value, source="bedrock", target="anthropic")
    assert back.value["messages"][0]["content"] == [ours]
    assert (there.all_losses, back.all_losses) == ((), ())
    other: Any = convert([{"role": "user", "content": [ours]}], source="anthropic", target="openai-chat")
    assert "needle" in other.value["messages"][0]["content"]
    assert other.losses == ()


def test_a_text_of_the_user_has_no_citations_for_cohere() -> None:
    cited = {"type": "web_search_result_location", "url": "https://e.com/a", "title": "News", "cited_text": "rain"}
    ours = [{"role": "user", "content": [{"type": "text", "text": "It rains.", "citations": [cited]}]}]
    made: Any = convert(ours, source="anthropic", target="cohere")
    assert made.value["messages"] == [{"role": "user", "content": "It rains."}]
    assert [(loss.code, loss.action) for loss in made.losses] == [("citations", "dropped")]


def test_citations_within_a_search_result_or_a_thought_are_losses() -> None:
    cited = {"type": "page_location", "cited_text": "needle", "document_title": "T", "document_index": 0}
    text = {"type": "text", "text": "It rains.", "citations": [cited]}
    found = {"type": "search_result", "source": "https://e.com", "title": "News", "content": [text]}
    made: Any = convert([{"role": "user", "content": [found]}], source="anthropic", target="bedrock")
    assert "It rains." in str(made.value)
    assert [loss.code for loss in made.losses] == ["citations"]
    summary = [{"type": "text", "text": "Rain.", "annotations": [{"type": "url_citation", "url": "https://needle"}]}]
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "Go on."}]},
        {"type": "thought", "summary": summary},
        {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]},
    ]
    thought = convert({"input": steps}, source="gemini-interactions", target="langchain")
    assert "annotations" in {loss.detail for loss in thought.all_losses}


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("openai-chat", {"type": "file", "file": {"file_data": "JVBERi0xLjc=", "file_id": "needle"}}),
        ("openai-responses", {"type": "input_file", "file_data": "JVBERi0xLjc=", "file_id": "needle"}),
        ("openai-responses", {"type": "input_file", "file_data": "JVBERi0xLjc=", "file_url": "https://needle"}),
        ("openai-responses", {"type": "input_image", "image_url": "https://e.com/a.png", "file_id": "needle"}),
    ],
)
def test_the_second_place_of_a_file_is_not_lost_without_a_word(source: str, part: dict[str, Any]) -> None:
    value = [{"role": "user", "content": [part]}]
    made = convert(value, source=source, target="anthropic")
    assert ("media", "changed") in {(loss.code, loss.action) for loss in made.losses}
    assert convert(made.value, source="anthropic", target=source, residue=made.residue).value == value


def test_a_file_that_is_an_image_is_an_image() -> None:
    file = {"type": "file", "file": {"file_data": "data:image/png;base64,iVBORw0KGgo=", "filename": "a.png"}}
    made: Any = convert([{"role": "user", "content": [file]}], source="openai-chat", target="anthropic")
    (block,) = made.value["messages"][0]["content"]
    assert block == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def test_a_detail_that_mistral_does_not_know_is_left_out() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://e.com/a.png", "detail": "original"}}
    made: Any = convert([{"role": "user", "content": [image]}], source="openai-chat", target="mistral")
    assert made.value["messages"][0]["content"] == [{"type": "image_url", "image_url": "https://e.com/a.png"}]
    assert [(loss.code, loss.detail) for loss in made.losses] == [("media", "detail of image: original")]
