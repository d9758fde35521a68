"""`toolfmt view`: what a conversation says is shown, and never becomes markup or steers a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import html

from toolfmt.transcripts.formats import find, formats

Run = Callable[..., tuple[int, str, str]]

EVIL = "</pre></p><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }} \u202eevil\x1b[31m \"'&"
SHOWN = EVIL.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")
PIXEL = "R0lGODlhAQABAAAAACw="
CHAT = {
    "system": EVIL,
    "tools": [{"name": EVIL, "description": EVIL, "input_schema": {"type": "object", "description": EVIL}}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": EVIL}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": EVIL, "signature": "s"},
                {"type": "text", "text": "Łódź"},
                {"type": "tool_use", "id": EVIL, "name": EVIL, "input": {"x": EVIL}},
                {"type": EVIL, "what": EVIL},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": EVIL,
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": EVIL},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": PIXEL}},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": '"><b>'}},
                        {"type": "image", "source": {"type": "url", "url": "https://example.com/x.png"}},
                    ],
                }
            ],
        },
    ],
}


def page(run: Run, tmp_path: Path, value: object, *options: str) -> html.HtmlElement:
    file, out = tmp_path / "<script>in.json", tmp_path / "page.html"
    file.write_text(json.dumps(value), "utf-8")
    code, said, err = run("view", file, *options, "-o", out)
    assert (code, said, err) == (0, "", "")
    return html.document_fromstring(out.read_text("utf-8"))


def test_what_is_said_never_becomes_markup(run: Run, tmp_path: Path) -> None:
    found = page(run, tmp_path, CHAT, "--from", "anthropic")
    allowed = "html head meta title style body header h1 h2 details summary b pre p article img"
    assert {str(element.tag) for element in found.iter()} == set(allowed.split())
    attributes = {(element.tag, name) for element in found.iter() for name in element.attrib}
    assert not {name for _, name in attributes if name.startswith("on") or name in {"href", "style"}}
    assert [image.get("src") for image in found.iter("img")] == [f"data:image/gif;base64,{PIXEL}"]
    (policy,) = found.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none';")
    assert "https://example.com/x.png" in found.text_content()


def test_calls_results_and_reasoning_are_folded(run: Run, tmp_path: Path) -> None:
    found = page(run, tmp_path, CHAT, "--from", "anthropic")
    assert [article.get("class") for article in found.iter("article")] == ["system", "user", "assistant", "user"]
    (called,) = found.xpath("//article/p[@class='call']")
    assert called.text_content() == f"call {SHOWN} {SHOWN} {json.dumps({'x': EVIL}, ensure_ascii=False)}".replace(
        "\u202e", "\\u202e"
    )
    assert [one.text for one in found.iter("p") if one is not called] == [SHOWN, SHOWN, "Łódź"]
    folded = {details.get("class"): details for details in found.xpath("//article/details")}
    assert folded.keys() == {"reasoning", "data", "error"}
    assert not any("open" in details.attrib for details in found.iter("details"))
    assert folded["reasoning"].findtext("pre") == SHOWN
    assert folded["error"].findtext("pre").startswith(SHOWN)


def test_the_terminal_shows_it_too(run: Run) -> None:
    code, out, err = run("view", "--from", "anthropic", stdin=json.dumps(CHAT))
    assert (code, err) == (0, "")
    assert SHOWN in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    lines = out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        *("tools", "system", "user", "assistant", "user")
    ]
    assert "  Łódź" in lines
    assert lines[lines.index("  [reasoning]") + 1] == f"  | {SHOWN}", "known without colours"
    assert f"  [tool] {SHOWN} {SHOWN}" in lines
    arguments = json.dumps({"x": EVIL}, ensure_ascii=False).replace("\u202e", "\\u202e")
    assert f"  [call] {SHOWN} {SHOWN} {arguments}" in lines


def test_a_row_is_chosen_by_its_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(json.dumps([{"role": "user", "content": f"row {n}"}]) for n in range(1, 4)), "utf-8")
    choice = ("--from", "openai-chat")
    assert "row 1" in run("view", file, *choice)[1]
    assert "row 3" in run("view", file, *choice, "--row", 3)[1]
    code, out, err = run("view", file, *choice, "--row", 9)
    assert (code, out, err) == (2, "", f"toolfmt: {file}: there is no conversation at 9\n")
    assert run("view", file) == run("view", file, *choice), "what all read alike needs no name"
    file.write_text('{"a": 1}\n', "utf-8")
    code, out, err = run("view", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{file}:1: " in err


@pytest.mark.parametrize("format", [made.name for made in formats() if made.writable])
def test_every_format_can_be_shown(run: Run, tmp_path: Path, format: str) -> None:  # noqa: A002
    chat = tmp_path / "chat.json"
    said = [{"role": "user", "content": "Hello there"}]
    call = {"id": "a12345678", "type": "function", "function": {"name": "sky", "arguments": "{}"}}
    chat.write_text(json.dumps([*said, {"role": "assistant", "tool_calls": [call]}]), "utf-8")
    made = tmp_path / "made.json"
    assert run("convert", chat, "--from", "openai-chat", "--to", format, "-o", made)[0] == 0
    code, out, _ = run("view", made, "--from", format)
    assert code == 0
    assert "sky" in out
    assert ("Hello there" in out) == ("user" in find(format).rules.roles)
    assert "[call] sky" in out
