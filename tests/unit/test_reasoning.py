"""Reasoning in every format that marks it: closed, open, prefilled by the prompt, empty, with calls inside."""

from __future__ import annotations

import pytest

import toolfmt
from tests import sampling
from toolfmt.events import coalesce
from toolfmt.lookup.registry import default_registry

THINK = ("<think>", "</think>")
AS_DEEPSEEK = """
    hermes qwen25 granite4 ernie45 longcat trinity interns1 minimax-m1 hunyuan-a13b nemotron-v2 xlam
    exaone4 bielik reka-edge deepseek-v3 deepseek-v31 kimi-k2 qwen3-coder nemotron3 step3p5 mimo minimax-m2 dots step3
    minicpm5 deepseek-v32 deepseek-v4 deepseek-v41 gigachat35 glm45 glm47 ling3 spark25 poolside-v1 iquest-q1 hy-v3
    hy-v4
"""
MARKERS = {
    **{dialect: [THINK] for dialect in AS_DEEPSEEK.split()},
    "mistral-v11": [("[THINK]", "[/THINK]"), THINK],
    "mistral-v11-callid": [("[THINK]", "[/THINK]"), THINK],
    "seed-oss": [("<seed:think>", "</seed:think>")],
    "minimax-m3": [("<mm:think>", "</mm:think>")],
    "hy-v3-suffix": [("<think:opensource>", "</think:opensource>")],
    "k2-horizon": [(f"<ifm|{kind}>", f"</ifm|{kind}>") for kind in ("think", "think_fast", "think_faster")],
    "cohere-command": [("<|START_THINKING|>", "<|END_THINKING|>")],
    "cohere-xml": [("<|START_THINKING|>", "<|END_THINKING|>")],
    "apertus": [("<|inner_prefix|>", "<|inner_suffix|>")],
    "kimi-k3": [("<|open|>think<|sep|>", "<|close|>think<|sep|>")],
    "plamo3": [("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>")],
    "solar-open": [("<|think|>", "<|end|>")],
    "apriel": [("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]")],
    "granite3": [("Here is my thought process:", "Here is my response:"), THINK],
    "cline": [("<thinking>", "</thinking>")],
}
CASES = [(dialect, *pair) for dialect, pairs in MARKERS.items() if dialect in sampling.names() for pair in pairs]
TOOL = toolfmt.ToolDefinition(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
CALL = toolfmt.ToolInvocation(name="look", arguments={"at": "x"})


def read(dialect: str, text: str, **options: object) -> toolfmt.ParseResult:
    """Read an answer whole; cut anywhere it is the same."""
    whole = toolfmt.parse(text, dialect=dialect, tools=[TOOL], **options)  # type: ignore[arg-type] - any option
    for size in (1, 3):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        events = toolfmt.parse_stream(pieces, dialect=dialect, tools=[TOOL], **options)  # type: ignore[arg-type]
        assert tuple(coalesce(list(events))) == whole.events
    return whole


def written(dialect: str) -> str:
    return toolfmt.render_calls([CALL], dialect=dialect, tools=[TOOL])


in_every_format = pytest.mark.parametrize(("dialect", "opener", "closer"), CASES, ids=lambda value: str(value).strip())


@in_every_format
def test_a_block_is_reasoning_and_what_follows_is_text(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, f"{opener}\nWhy?\n{closer}\n\nHi.")
    assert (result.reasoning.strip(), result.text.strip()) == ("Why?", "Hi.")
    assert not result.notices


@in_every_format
def test_a_call_behind_a_block_is_a_call(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, f"{opener}Why?{closer}{written(dialect)}")
    assert (result.reasoning, result.text.strip()) == ("Why?", "")
    assert [call.arguments for call in result.calls] == [CALL.arguments]


@in_every_format
def test_two_blocks_are_two(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, f"{opener}a{closer}b{opener}c{closer}d")
    assert (result.reasoning, result.text) == ("ac", "bd")


@in_every_format
def test_an_empty_block_says_nothing(dialect: str, opener: str, closer: str) -> None:
    for inside in ("", "\n\n"):
        result = read(dialect, f"{opener}{inside}{closer}Hi.")
        assert (result.reasoning.strip(), result.text) == ("", "Hi.")


@in_every_format
def test_a_block_that_the_prompt_opened_is_reasoning_from_the_start(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, f"Why?{closer}Hi.", generation_prompt=f"<|assistant|>{opener}")
    assert (result.reasoning, result.text) == ("Why?", "Hi.")
    if opener == MARKERS[dialect][0][0]:
        result = read(dialect, f"Why?{closer}Hi.", reasoning_open=True)
        assert (result.reasoning, result.text) == ("Why?", "Hi.")


@in_every_format
def test_a_block_that_the_prompt_opened_and_closed_is_over(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, "Hi.", generation_prompt=f"<|assistant|>{opener}\n\n{closer}\n\n")
    assert (result.reasoning, result.text) == ("", "Hi.")


@in_every_format
def test_an_opener_that_the_model_repeats_is_no_reasoning(dialect: str, opener: str, closer: str) -> None:
    result = read(dialect, f"{opener}Why?{closer}Hi.", generation_prompt=f"<|assistant|>{opener}\n")
    assert (result.reasoning.strip(), result.text) == ("Why?", "Hi.")


@in_every_format
def test_a_closer_alone_is_not_shown(dialect: str, opener: str, closer: str) -> None:
    assert opener
    result = read(dialect, f"{closer}Hi.")
    assert (result.reasoning, result.text) == ("", "Hi.")


@in_every_format
def test_a_block_that_is_never_closed_is_reasoning(dialect: str, opener: str, closer: str) -> None:
    assert closer
    result = read(dialect, f"{opener}Why?")
    assert (result.reasoning, result.text) == ("Why?", "")


@in_every_format
def test_a_call_in_a_block(dialect: str, opener: str, closer: str) -> None:
    """In one that is closed it is a draft, in one that is never closed it is real; or as the format says."""
    syntax = default_registry().dialect(dialect).syntax
    assert syntax is not None
    policy = syntax.calls_in_reasoning
    closed = read(dialect, f"{opener}Why?{written(dialect)}{closer}Hi.")
    assert len(closed.calls) == (policy == "call")
    assert closed.text.strip() == "Hi."
    left_open = read(dialect, f"{opener}Why?{written(dialect)}")
    # Without a marker nothing tells a call from what the model thinks of.
    assert len(left_open.calls) == (policy != "draft" and not syntax.bare)
    assert left_open.reasoning.startswith("Why?")


WRAPPERS = [
    ("ernie45", "<response>\n", "\n</response>"),
    ("granite3", "<response>", "</response>"),
    ("hunyuan-a13b", "<answer>\n", "\n</answer>"),
    ("cohere-command", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("cohere-command", "<|START_TEXT|>", "<|END_TEXT|>"),
    ("kimi-k3", "<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ("apriel", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"),
]


@pytest.mark.parametrize(("dialect", "opener", "closer"), WRAPPERS, ids=lambda value: str(value).strip())
def test_markers_around_the_answer_are_not_shown(dialect: str, opener: str, closer: str) -> None:
    (think, thought), *_ = MARKERS[dialect]
    for answer in (f"{opener}Hi.{closer}", f"{opener}Hi.", f"Hi.{closer}"):
        for text in (answer, f"{think}Why?{thought}{answer}"):
            result = read(dialect, text)
            assert result.text.strip() == "Hi."
            assert not result.failures


@pytest.mark.parametrize("dialect", MARKERS)
def test_these_are_all_the_markers_of_a_format(dialect: str) -> None:
    syntax = default_registry().dialect(dialect).syntax
    assert syntax is not None
    assert [(opener.strip(), closer.strip()) for opener, closer in syntax.reasoning] == MARKERS[dialect]


@pytest.mark.parametrize(
    ("dialect", "answer", "reasoning", "text"),
    [
        ("hermes", " is it.\n</think>\n\nOk.", " is it.", "Ok."),
        ("hermes", "\nIs it.\n</think>\n\nOk.", "Is it.", "Ok."),
        ("granite3", "So. Here is my response:Ok.", "So. ", "Ok."),
        ("granite3", "So.</think>Ok.", "So.", "Ok."),
    ],
)
def test_a_thought_that_the_prompt_began_goes_on(dialect: str, answer: str, reasoning: str, text: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, reasoning_open=True)
    assert (result.reasoning, result.text) == (reasoning, text)
    streamed = toolfmt.parse_stream(answer, dialect=dialect, reasoning_open=True)
    assert tuple(coalesce(list(streamed))) == result.events
