"""Show an answer's text while it comes, and each call as soon as it is certain.

    python examples/parse_a_stream.py

The pieces stand for what a model sends; some cut a marker in half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import ArgumentsDelta, CallEnd, CallFailed, CallStart, TextDelta, parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER = """I'll write the file and then look at it.
<tool name="write_note">
    <arguments>
        <arg name="title">Closing tags</arg>
        <arg name="text">A value may hold </arg> and even </tool> and is not cut.</arg>
    </arguments>
</tool>
<tool name="read_note"><arguments><arg name="title">Closing tags</arg></arguments></tool>
Done."""


def write_note(title: str, text: str) -> None:
    """Write a note."""


def read_note(title: str) -> str:
    """Read a note."""
    return title


def pieces(text: str, size: int = 11) -> Iterator[str]:
    """Cut a text as a model's server would."""
    for at in range(0, len(text), size):
        yield text[at : at + size]


def main() -> None:
    """Read the answer piece by piece and print what is known."""
    for event in parse_stream(pieces(ANSWER), provider="anthropic", tools=[write_note, read_note]):
        match event:
            case TextDelta(text):
                print(text, end="", flush=True)
            case CallStart(index, name):
                print(f"[call {index}: {name} ", end="")
            case ArgumentsDelta(_, json):
                print(json, end="", flush=True)
            case CallEnd(_, call):
                print(f"] complete, with {' and '.join(call.arguments)}")
            case CallFailed(_, _, reason, detail):
                print(f"] failed: {reason}: {detail}")
            case _:
                pass
    print()


if __name__ == "__main__":
    main()
