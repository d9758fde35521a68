"""`toolfmt manifest` and `toolfmt inject`: what they print is exactly what the functions give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolfmt.manifests import inject, manifest

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ((), {}),
        (("--provider", "anthropic"), {"provider": "anthropic"}),
        (("-d", "tool_json"), {"dialect": "tool-json"}),
        (("-m", "claude-opus-4"), {"model": "claude-opus-4"}),
        (("-p", "bedrock", "-m", "claude-opus-4"), {"provider": "bedrock", "model": "claude-opus-4"}),
        (("--xml",), {"use_xml": True}),
        (("--xml", "-p", "openai"), {"use_xml": True, "provider": "openai"}),
        (("--xml", "-d", "xml-items"), {"dialect": "xml-items"}),
    ],
)
def test_manifest_is_the_functions_own(run: Run, tools: Path, options: tuple[str, ...], choice: dict[str, Any]) -> None:
    code, out, err = run("manifest", tools, *options)
    assert (code, out) == (0, manifest(str(tools), **choice))
    assert ("no format is chosen, so this is the default JSON" in err) == (not options)


def test_manifest_of_tools_from_a_pipe(run: Run, tools: Path) -> None:
    assert run("manifest", "-", "--xml", stdin=tools.read_bytes()) == (0, manifest(str(tools), use_xml=True), "")


@pytest.mark.parametrize("name", ["pipe", "tools.txt", "-"])
def test_manifest_of_tools_known_by_their_content(run: Run, tools: Path, tmp_path: Path, name: str) -> None:
    yaml = "- name: get_weather\n  description: Look up the weather.\n"
    for content in (tools.read_text("utf-8"), yaml):
        (tmp_path / name).write_text(content, "utf-8")
        code, out, err = run("manifest", "-" if name == "-" else tmp_path / name, "--xml", stdin=content)
        assert (code, err) == (0, "")
        assert "Look up the weather." in out


def test_text_on_a_pipe_opens_no_file(run: Run, tools: Path) -> None:
    code, out, err = run("manifest", "-", stdin=str(tools))
    assert (code, out) == (2, "")
    assert "<stdin>: this is neither JSON nor YAML" in err


def test_manifest_with_a_template(run: Run, tools: Path, tmp_path: Path) -> None:
    template = tmp_path / "names.jinja"
    template.write_text("{% for tool in tools %}<{{ tool.name }}>{% endfor %}", "utf-8")
    assert run("manifest", tools, "--xml", "--template", template) == (0, "<get_weather><take_note>", "")


def test_manifest_with_a_broken_template(run: Run, tools: Path, tmp_path: Path) -> None:
    template = tmp_path / "broken.jinja"
    template.write_text("{% for %}", "utf-8")
    code, out, err = run("manifest", tools, "--template", template)
    assert (code, out) == (2, "")
    assert "broken.jinja, line 1" in err


def test_inject_puts_the_tools_in_their_place(run: Run, tools: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    text = "Be brief.\r\n{{ tools }}\r\nÜber alles: \u2713"
    prompt.write_bytes(text.encode())
    expected = inject(text, str(tools), provider="gemini")
    assert "\r\n" in expected
    assert run("inject", prompt, tools, "-p", "gemini") == (0, expected, "")
    assert run("inject", "-", tools, "-p", "gemini", stdin=text) == (0, expected, "")


def test_inject_without_a_place_appends_a_section(run: Run, tools: Path) -> None:
    code, out, _ = run("inject", "-", tools, stdin="Be brief.")
    assert code == 0
    assert out == inject("Be brief.", str(tools))
    assert out.startswith("Be brief.\n\n## Accessible Tools\n\n")
