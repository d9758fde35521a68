"""Reading stays linear: what is read again grows with the text and no faster, counted instead of timed."""

from __future__ import annotations

import pytest

import toolfmt
from toolfmt.parsers.scanning.cursor import Cursor

BROKEN = '{"name": "f", "args": {"x": [NaN, '
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'


class Count:
    """How many characters readers went back over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        for name in ("rewind", "go"):
            monkeypatch.setattr(Cursor, name, self._counted(getattr(Cursor, name)))

    def _counted(self, move: object) -> object:
        def moved(cur: Cursor, to: int) -> None:
            before = cur.at
            move(cur, to)  # type: ignore[operator]
            self.characters += max(0, before - cur.at)

        return moved

    def of(self, text: str, dialect: str) -> int:
        self.characters = 0
        toolfmt.parse(text, dialect=dialect)
        return self.characters


@pytest.mark.parametrize(
    ("dialect", "opening", "unit"),
    [
        ("execute-array", "<execute>[", f"{BROKEN}}}, "),
        ("execute-array", "<execute>[", BROKEN),
        ("hermes", "<think>", CALL),
        ("hermes", "<think>", f"{CALL}<think>"),
        ("granite4", "<think>So: ", CALL),
        ("hermes", "", f"<tool_call>{BROKEN}"),
        ("qwen3-coder", "", "<tool_call>\n<function=f>\n<parameter=a>\nx\n"),
        ("xml-items", "", '<tool name="f"><arg name="a">x'),
        ("xml-items", "", '<tool name="f"><arguments><arg name="a">x</arg>'),
        ("execute-array", "", f"<execute>[{BROKEN}</execute>"),
        ("hermes", "", f"<tool_call>{BROKEN}</tool_call>\n"),
        ("qwen3-coder", "", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\nstray "),
        ("xml-cdata", "", "<tool><tool_name>f</tool_name><arguments><a>x</a>stray "),
        ("cline", "", "<f><a>x</a> stray "),
        ("glm45", "", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>stray "),
        ("mistral-v3", "[TOOL_CALLS] [", f"{BROKEN}}}, "),
    ],
)
def test_four_times_the_text_is_four_times_the_work(
    monkeypatch: pytest.MonkeyPatch, dialect: str, opening: str, unit: str
) -> None:
    count = Count(monkeypatch)
    few, many = (count.of(opening + unit * number, dialect) for number in (200, 800))
    assert many <= 4 * few + 8 * 1024 * 64, (few, many)
    assert many <= 2 * len(unit) * 800 + 1024 * 128, (few, many)
