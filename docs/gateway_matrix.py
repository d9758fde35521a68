"""The page of the conversations that official SDKs have through the gateway, from what their test wrote down."""  # noqa: INP001 - beside the script that uses it

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from blocks import codes, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOUND: Final = Path(__file__).resolve().parents[1] / "tests_sdk" / "gateway_matrix.json"
_SDKS: Final[Mapping[str, str]] = {
    "openai-chat": "openai, chat",
    "openai-responses": "openai, responses",
    "anthropic": "anthropic",
    "gemini": "google-genai",
    "mistral": "mistralai",
    "ollama": "ollama",
}
_WORDS: Final[Mapping[str, str]] = {
    "yes": "as the model gave it",
    "at once": "a call's arguments come whole: one of the two APIs has no pieces of them",
    "note": "the model is given a note in the image's place, and `x-toolfmt-losses` says so",
    "words": "the words of a refusal come as text: one of the two APIs has no mark for it",
    "asked again": "the model is shown what is wrong and asked again; the client gets the call that fits",
}
_INTRODUCTION: Final = (
    "Official SDKs have the same twelve conversations through [the gateway](../how-to/run-a-gateway.md) with each "
    "back, whole and streamed, and a test holds this table to what came of them."
)
_DETAILS: Final = (
    "An error comes before the answer where it is asked for whole, and in the middle of a stream. A call whose "
    "arguments are no JSON object is never one that a client runs: its arguments stay text, and the answer ends as if "
    "cut off. After a cancellation the connection to the back is closed."
)
_YES: Final = "yes"


def conversations_page() -> str:
    """Show what came of each conversation."""
    found: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = json.loads(FOUND.read_text("utf-8"))
    backs = sorted({back for rows in found.values() for by in rows.values() for some in by.values() for back in some})
    words = sorted({word for rows in found.values() for by in rows.values() for out in by for word in out.split(" / ")})
    return "\n\n".join(
        (
            "# Conversations through the gateway",
            _INTRODUCTION,
            f"Backs: {codes(backs)}. The last table says what each word means.",
            table(("conversation", *(_SDKS[face] for face in found)), _rows(found)),
            _DETAILS,
            table(("word", "what the client gets"), ((word, _WORDS[word]) for word in words)),
        )
    )


def _rows(found: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]) -> Iterator[tuple[str, ...]]:
    for name in next(iter(found.values())):
        yield name, *(_cell(rows[name]) for rows in found.values())


def _cell(outcomes: Mapping[str, Sequence[str]]) -> str:
    """Say what came of it with most backs, and with which it was something else."""
    if len(outcomes) == 1:
        return next(iter(outcomes))
    most = max(outcomes, key=lambda word: (len(outcomes[word]), word == _YES))
    others = "; ".join(f"{word}: {codes(backs)}" for word, backs in outcomes.items() if word != most)
    return f"{most}; {others}"
