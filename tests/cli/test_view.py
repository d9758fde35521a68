"""`toolfmt view`: what a conversation says is shown, and never becomes markup or steers a terminal."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
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
    found = html.document_fromstring(out.read_text("utf-8"))
    count = max(1, len(found.xpath("//section")))
    shown = f"{count} conversation{'s' if count > 1 else ''}"
    assert (code, said, err) == (0, "", f"toolfmt: {out} shows {shown}\n")
    return html.document_fromstring(out.read_text("utf-8"))


def test_what_is_said_never_becomes_markup(run: Run, tmp_path: Path) -> None:
    found = page(run, tmp_path, CHAT, "--from", "anthropic")
    ours = (
        "html head meta title style body header h1 span input div main p kbd section details summary b pre article h3"
    )
    assert {str(element.tag) for element in found.iter()} == {*ours.split(), "script", "img"}
    attributes = {(element.tag, name) for element in found.iter() for name in element.attrib}
    assert not {name for _, name in attributes if name.startswith("on") or name in {"href", "style"}}
    assert [image.get("src") for image in found.iter("img")] == [f"data:image/gif;base64,{PIXEL}"]
    assert "https://example.com/x.png" in found.text_content()


def test_no_script_runs_but_the_pages_own(run: Run, tmp_path: Path) -> None:
    found = page(run, tmp_path, CHAT, "--from", "anthropic")
    (policy,) = found.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (script,) = found.iter("script")
    own = files("toolfmt.cli").joinpath("page.js").read_text("utf-8")
    assert script.text == own
    digest = b64encode(sha256(own.encode()).digest()).decode()
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["form-action"] == rules["base-uri"] == "'none'"
    assert rules["img-src"] == "data:"


HOSTILE = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](//evil.example)",
    "[x](#c1)",
    "[x]: javascript:alert(1)\n[x]",
    "<javascript:alert(1)>",
    "![x](https://evil.example/track.png)",
    '[x](https://e.com/"onmouseover="alert(1) "t\\"onclick=\\"alert(1)")',
    '```js" onclick="alert(1)\n</code></pre><script>alert(1)</script>\n```',
    "<svg/onload=alert(1)>",
    "<!-- --><script>alert(1)</script>",
    "|a|\n|-|\n|<img src=x onerror=alert(1)>|",
    "</div></article></section><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_leads_nowhere_but_to_the_web(run: Run, tmp_path: Path, text: str) -> None:
    found = page(run, tmp_path, [{"role": "user", "content": f"So: {text}\n\n{text}"}], "--from", "openai-chat")
    (said,) = found.xpath("//div[@class='text']")
    tags = {str(element.tag) for element in said.iter()}
    assert tags <= {"div", "p", "a", "br", "pre", "code", "table", "thead", "tbody", "tr", "th", "td"}
    for element in said.iter():
        assert {*element.attrib} <= {"class", "dir", "href", "rel", "title", "style"}
        assert element.get("style", "text-align:left").startswith("text-align:")
        assert element.get("href", "https://").startswith("https://")
    assert len(found.xpath("//script")) == 1
    assert len(found.xpath("//article")) == 1


def test_markdown_is_rendered(run: Run, tmp_path: Path) -> None:
    text = "# Weather\n\n- **warm**\n\n| a |\n|---|\n| 1 |\n\n[site](https://example.com) one\ntwo"
    found = page(run, tmp_path, [{"role": "user", "content": text}], "--from", "openai-chat")
    (said,) = found.xpath("//div[@class='text']")
    assert [element.tag for element in said] == ["h1", "ul", "table", "p"]
    (link,) = said.iter("a")
    assert (link.get("href"), link.get("rel")) == ("https://example.com", "noopener noreferrer")
    assert len(list(said.iter("br"))) == 1


def test_results_are_below_their_calls_and_folded(run: Run, tmp_path: Path) -> None:
    found = page(run, tmp_path, CHAT, "--from", "anthropic")
    assert [article.get("class") for article in found.iter("article")] == ["system", "user", "assistant"]
    (called,) = found.xpath("//article/div[@class='call']/p")
    assert called.text_content() == f"call {SHOWN} {SHOWN} {json.dumps({'x': EVIL}, ensure_ascii=False)}".replace(
        "\u202e", "\\u202e"
    )
    said = [one.text_content().strip() for one in found.xpath("//div[@class='text']")]
    assert said == [SHOWN, SHOWN, "Łódź"]
    folded = {details.get("class"): details for details in found.xpath("//article//details")}
    assert folded.keys() == {"reasoning", "data", "error"}
    assert not any("open" in details.attrib for details in found.iter("details"))
    assert folded["reasoning"].findtext("pre") == SHOWN
    assert folded["error"].findtext("pre").startswith(SHOWN)
    assert folded["error"].getparent() is called.getparent()


def test_long_arguments_are_folded(run: Run, tmp_path: Path) -> None:
    calls = [
        {"type": "tool_use", "id": str(size), "name": "write", "input": {"text": "x" * size}} for size in (100, 5000)
    ]
    found = page(run, tmp_path, [{"role": "assistant", "content": calls}], "--from", "anthropic")
    short, long = found.xpath("//div[@class='call']")
    assert short.xpath("p")[0].text_content() == 'call write 100 {"text": "' + "x" * 100 + '"}'
    assert long.xpath("details[@class='call']/pre")[0].text_content() == '{"text": "' + "x" * 5000 + '"}'


def test_each_result_is_below_its_own_call(run: Run, tmp_path: Path) -> None:
    calls = [{"id": one, "type": "function", "function": {"name": f"f_{one}", "arguments": "{}"}} for one in "ab"]
    results = [{"role": "tool", "tool_call_id": one, "content": f"of {one}"} for one in ("b", "a", "z")]
    chat = [{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": calls}, *results]
    found = page(run, tmp_path, chat, "--from", "openai-chat")
    below = {one.findtext("p/b"): one.findtext("details/pre") for one in found.xpath("//div[@class='call']")}
    assert below == {"call f_a a": "of a", "call f_b b": "of b"}
    assert found.xpath("//article[@class='tool']/details/summary")[0].text_content() == "result z (of no call) of z"
    lines = run("view", "--from", "openai-chat", stdin=json.dumps(chat))[1].splitlines()
    at = lines.index("  [call] f_a a {}")
    assert lines[at : at + 3] == ["  [call] f_a a {}", "    [result] a", "    of a"]


def test_several_conversations_are_one_page_with_an_index(run: Run, tmp_path: Path) -> None:
    rows = [json.dumps([{"role": "user", "content": f"row {n}"}]) for n in range(1, 4)]
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, '{"messages": [']), "utf-8")
    (tmp_path / "b.json").write_text(rows[0], "utf-8")
    out = tmp_path / "page.html"
    code, said, err = run("view", tmp_path / "a.jsonl", tmp_path / "b.json", "--from", "openai-chat", "-o", out)
    announced, failed = err.splitlines()
    assert (code, said, announced) == (1, "", f"toolfmt: {out} shows 5 conversations")
    assert failed.startswith(f"toolfmt: {tmp_path / 'a.jsonl'}:4: the text ends")
    found = html.document_fromstring(out.read_text("utf-8"))
    titles = [*(f"{tmp_path / 'a.jsonl'}:{n}" for n in range(1, 5)), f"{tmp_path / 'b.json'}:1"]
    assert [one.text for one in found.xpath("//section/h2")] == titles
    links = found.xpath("//details[@id='index']//a")
    assert [link.text for link in links] == titles
    assert [link.get("href") for link in links] == [f"#{one.get('id')}" for one in found.iter("section")]
    assert [one.text for one in found.xpath("//details[@id='index']//span")][:3] == ["row 1", "row 2", "row 3"]
    assert found.xpath("//section[4]/p[@class='reason']")[0].text.startswith("the text ends")
    run("view", tmp_path / "a.jsonl", "--from", "openai-chat", "--limit", 2, "-o", out)
    assert out.read_text("utf-8").count("<section") == 2
    out_text = run("view", tmp_path / "a.jsonl", "--from", "openai-chat", "--limit", 2)[1]
    assert [line for line in out_text.splitlines() if line.startswith("== ")] == [f"== {one}" for one in titles[:2]]


def test_the_terminal_shows_it_too(run: Run) -> None:
    code, out, err = run("view", "--from", "anthropic", stdin=json.dumps(CHAT))
    assert (code, err) == (0, "")
    assert SHOWN in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    lines = out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [*("tools", "system", "user", "assistant")]
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
    assert (code, out, err) == (
        2,
        "",
        f"toolfmt: {file}: there is no conversation at 9; lines and rows are counted from 1\n",
    )
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


def test_no_page_is_written_through_a_link(run: Run, tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "page.html"
    victim.write_text("precious", "utf-8")
    link.symlink_to(victim)
    code, _, err = run("view", "-", "-o", link, stdin='{"messages": [{"role": "user", "content": "Hi"}]}')
    assert (code, f"{link}: is a symbolic link" in err) == (2, True)
    assert victim.read_text("utf-8") == "precious"
