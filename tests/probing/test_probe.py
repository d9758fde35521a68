"""Each fault of a server gives its finding, a faithful one gives none."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from socket import socket
from typing import Any

import pytest
from starlette.responses import RedirectResponse, Response

from toolfmt import ToolInvocation, render_calls
from toolfmt.cli import main
from toolfmt.errors import install_line
from toolfmt.workshop.probing import QUESTIONS, Question, Report, probe, verdict
from toolfmt.workshop.probing.findings import SHOWN

from .conftest import Faulty, Said, calls_as, chunks, dripping, framed, whole

Serve = Callable[[Faulty], Faulty]


def asked(faulty: Faulty, **further: Any) -> Report:
    return probe(faulty.url, "m", **further)


def rules(report: Report, severity: str = "error") -> set[str]:
    return {one.rule for one in report.findings if one.severity == severity}


def test_a_faithful_server_has_no_findings(served: Serve) -> None:
    report = asked(served(Faulty()))
    assert report.findings == ()
    assert report.faithful
    assert report.asked == 2 * len(QUESTIONS)


def as_text(dialect: str, *, keep: int = 0) -> Callable[[Question, Said], Said]:
    """Leave calls in the text, but for the first few."""

    def change(_: Question, said: Said) -> Said:
        calls = [ToolInvocation(name=name, arguments=json.loads(text)) for _, name, text in said.calls[keep:]]
        if not calls:
            return said
        text = f"{said.text}\n{render_calls(calls, dialect=dialect)}"
        return Said(text, said.calls[:keep], said.finish if keep else "stop")

    return change


def texts(change: Callable[[str], str]) -> Callable[[Question, Said], Said]:
    return lambda _, said: replace(said, text=change(said.text)) if said.text else said


def mangled(change: Callable[[str], str]) -> Callable[[Question, Said], Said]:
    """Change the texts within arguments."""

    def changed(call: tuple[Any, str, Any]) -> tuple[Any, str, Any]:
        value = {key: change(one) if isinstance(one, str) else one for key, one in json.loads(call[2]).items()}
        return call[0], call[1], json.dumps(value)

    return calls_as(changed)


def without(name: str, change: Callable[[Said], Said]) -> Callable[[Question, Said], Said]:
    return lambda question, said: change(said) if question.name == name else said


def pieces(change: Callable[[Any], None]) -> Callable[[Said], list[Any]]:
    """Change every piece of a call in a stream."""

    def changed(said: Said) -> list[Any]:
        made = chunks(said)
        for event in made:
            for call in event["choices"][0]["delta"].get("tool_calls", ()):
                change(call)
        return made

    return changed


def other(said: Said) -> Said:
    return replace(said, calls=(("call_0", "get_weather", '{"city": "Paris"}'),))


CALLED = Said("", (("call_0", "get_weather", '{"city": "Paris"}'),), "tool_calls")
FAULTS: dict[str, tuple[Faulty, set[str], set[str]]] = {
    "calls left in the text": (
        Faulty(say=as_text("hermes")),
        {"markup_in_content", "choice_ignored"},
        {"too_few_calls"},
    ),
    "another format's": (
        Faulty(say=as_text("mistral-v11")),
        {"markup_in_content", "choice_ignored"},
        {"too_few_calls"},
    ),
    "all but the first": (Faulty(say=as_text("hermes", keep=1)), {"markup_in_content"}, {"too_few_calls"}),
    "half a call": (
        Faulty(say=without("one call", lambda _: Said('<tool_call>\n{"name": "get_weather", "argu'))),
        {"markup_in_content"},
        {"too_few_calls"},
    ),
    "reasoning in the text": (
        Faulty(say=texts(lambda text: f"<think>Hm.</think>{text}")),
        {"reasoning_in_content"},
        set(),
    ),
    "its end alone": (Faulty(say=texts(lambda text: f"Hm.\n</think>\n{text}")), {"reasoning_in_content"}, set()),
    "a token": (Faulty(say=texts(lambda text: f"{text}<|im_end|>")), {"token_in_content"}, set()),
    "python for json": (
        Faulty(say=calls_as(lambda call: (call[0], call[1], repr(json.loads(call[2]) or {1: 2})))),
        {"arguments_not_json"},
        set(),
    ),
    "no text for no arguments": (
        Faulty(say=calls_as(lambda call: (*call[:2], "" if call[2] == "{}" else call[2]))),
        {"arguments_not_json"},
        set(),
    ),
    "an object for text": (
        Faulty(say=calls_as(lambda call: (*call[:2], json.loads(call[2])))),
        {"arguments_not_text"},
        set(),
    ),
    "empty arguments": (Faulty(say=calls_as(lambda call: (*call[:2], "{}"))), {"arguments_lost"}, set()),
    "a list for arguments": (Faulty(say=calls_as(lambda call: (*call[:2], "[]"))), {"arguments_not_json"}, set()),
    "numbers as texts": (
        Faulty(
            say=without(
                "nested arguments",
                lambda said: replace(said, calls=((*said.calls[0][:2], said.calls[0][2].replace("31", '"31"')),)),
            )
        ),
        set(),
        {"arguments_invalid"},
    ),
    "escaped twice": (Faulty(say=mangled(lambda text: json.dumps(text)[1:-1])), {"arguments_mangled"}, set()),
    "read as latin-1": (
        Faulty(say=mangled(lambda text: text.encode().decode("latin-1"))),
        {"arguments_mangled"},
        set(),
    ),
    "other words": (Faulty(say=mangled(lambda text: text.replace("東京", "Tokyo"))), set(), {"arguments_differ"}),
    "no ids": (Faulty(say=calls_as(lambda call: (None, *call[1:]))), {"id_missing"}, set()),
    "empty ids": (Faulty(say=calls_as(lambda call: ("", *call[1:]))), {"id_missing"}, set()),
    "one id": (Faulty(say=calls_as(lambda call: ("call", *call[1:]))), {"id_duplicate"}, set()),
    "a prefix": (
        Faulty(say=calls_as(lambda call: (call[0], f"functions.{call[1]}", call[2]))),
        {"unknown_tool", "choice_ignored"},
        set(),
    ),
    "stop for calls": (Faulty(say=lambda _, said: replace(said, finish="stop")), {"finish_reason"}, set()),
    "no reason": (Faulty(say=lambda _, said: replace(said, finish=None)), {"finish_reason"}, set()),
    "cut off": (Faulty(say=lambda _, said: replace(said, finish="length")), set(), {"cut_off"}),
    "another tool": (Faulty(say=without("forced call", other)), {"choice_ignored"}, set()),
    "no tool": (Faulty(say=without("any call", lambda _: Said("Paris is warm."))), {"choice_ignored"}, set()),
    "a tool all the same": (Faulty(say=without("forbidden call", lambda _: CALLED)), {"choice_ignored"}, {"text_lost"}),
    "no text beside calls": (Faulty(say=without("text and a call", lambda _: CALLED)), set(), {"text_lost"}),
    "no text at all": (Faulty(say=without("no call", lambda _: Said())), {"no_text"}, set()),
    "one of two calls": (Faulty(say=without("two calls", lambda _: CALLED)), set(), {"too_few_calls"}),
    "results not shown": (Faulty(say=without("results", lambda _: Said("I don't know."))), {"results_ignored"}, set()),
    "streams without calls": (
        Faulty(stream_say=without("one call", lambda _: Said("Let me look."))),
        {"stream_differs"},
        {"too_few_calls"},
    ),
    "streams of other calls": (
        Faulty(stream_say=calls_as(lambda call: (*call[:2], call[2].replace("Paris", "Pari")))),
        set(),
        {"stream_differs"},
    ),
    "one index for all": (
        Faulty(chunks=pieces(lambda call: call.update(index=0))),
        {"index_mixed", "arguments_not_json"},
        {"stream_differs"},
    ),
    "no index": (Faulty(chunks=pieces(lambda call: call.pop("index"))), {"no_index"}, set()),
    "streams without an end": (Faulty(frame=lambda events: framed(events)[:-14]), {"no_done"}, set()),
    "a broken event": (Faulty(frame=lambda events: "data: {oops\n\n" + framed(events)), {"event_not_json"}, set()),
    "no function": (
        Faulty(whole=lambda said: json.loads(json.dumps(whole(said)).replace('"function": {', '"fun": {'))),
        {"call_without_function", "choice_ignored", "finish_reason", "stream_differs"},
        {"too_few_calls"},
    ),
    "content in parts": (
        Faulty(
            whole=lambda said: json.loads(json.dumps(whole(said)).replace('"content": "Let me look."', '"content": []'))
        ),
        {"content_not_text", "no_text"},
        {"text_lost", "stream_differs"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_its_finding(served: Serve, name: str) -> None:
    faulty, errors, warnings = FAULTS[name]
    report = asked(served(faulty))
    assert (rules(report), rules(report, "warning")) == (errors, warnings)
    assert report.faithful is not bool(errors)
    assert not report.unusable
    assert all(one.expected and one.came for one in report.findings)


def test_what_toolfmt_reads_in_the_text_is_reported(served: Serve) -> None:
    report = asked(served(Faulty(say=as_text("hermes"))))
    found = next(one for one in report.findings if one.rule == "markup_in_content" and one.question == "two calls")
    assert found.read == ('hermes: get_weather({"city": "Paris"})', 'hermes: get_weather({"city": "Rome"})')
    assert "<tool_call>" in found.came


def test_a_stream_that_is_none(served: Serve) -> None:
    faulty = served(Faulty(frame=lambda _: json.dumps(whole(Said("Let me look.", finish="stop")))))
    report = asked(faulty, questions=[one for one in QUESTIONS if one.name == "no call"])
    assert rules(report) == {"not_streamed"}


def page(status: int) -> Callable[[Any], Response]:
    return lambda _: Response("<html><h1>It works!</h1></html>", status, media_type="text/html")


def said(value: object, status: int = 200) -> Callable[[Any], Response]:
    return lambda _: Response(json.dumps(value), status, media_type="application/json")


REPLIES: dict[str, tuple[Callable[[Any], Response | None], str, str]] = {
    "a page": (page(200), "not_json", "It works!"),
    "a gateway's page": (page(502), "server_error", "502 Bad Gateway"),
    "nothing here": (page(404), "not_found", "404 Not Found"),
    "no model": (said({"error": {"message": "no model m"}}, 404), "not_found", "no model m"),
    "no key": (said({"error": {"message": "who are you?"}}, 401), "unauthorized", "who are you?"),
    "a redirect": (lambda _: RedirectResponse("https://example.com/login"), "redirect", "https://example.com/login"),
    "too busy": (said({"error": {"message": "slow down"}}, 429), "server_error", "slow down"),
    "huge": (lambda _: Response(b" " * 5_000_000, media_type="application/json"), "too_large", "more"),
    "something else": (said({"hello": "world"}), "not_an_answer", "hello"),
    "a list": (said([1, 2]), "not_an_answer", "1"),
    "nothing": (lambda _: Response(b""), "not_json", "something"),
    "no text": (
        lambda _: Response(b"\xff\xfe\x00" * 50, media_type="application/json"),
        "not_json",
        "application/json",
    ),
    "deep": (lambda _: Response(b"[" * 100_000, media_type="application/json"), "not_json", "[[["),
    "too slow": (dripping, "timeout", "none"),
    "refusals": (said({"error": {"message": "no tools here"}}, 400), "refused", "no tools here"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_server_that_does_not_answer_is_a_finding(served: Serve, name: str) -> None:
    reply, rule, words = REPLIES[name]
    report = asked(served(Faulty(reply=reply)), timeout=0.2)
    assert {one.rule for one in report.findings} == {rule}
    assert words in report.findings[0].came
    assert report.unusable
    assert not report.faithful
    assert report.asked == 0


def test_nobody_there_is_a_finding() -> None:
    with socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        report = probe(f"http://127.0.0.1:{unheard.getsockname()[1]}/v1", "m")
    (found,) = report.findings
    assert (found.rule, report.unusable) == ("unreachable", True)


def test_a_server_that_says_nothing_is_late() -> None:
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        report = probe(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "m", timeout=0.05)
    assert [one.rule for one in report.findings] == ["timeout"] * 3


def test_an_error_within_a_stream_is_a_finding(served: Serve) -> None:
    faulty = served(Faulty(frame=lambda _: 'data: {"error": {"message": "out of memory"}}\n\n'))
    report = asked(faulty)
    assert {(one.rule, one.mode) for one in report.findings} == {("server_error", "streamed")}
    assert "out of memory" in report.findings[0].came


def test_a_server_that_refuses_a_temperature_is_asked_without(served: Serve) -> None:
    def refuse(body: Any) -> Response | None:
        return said({"error": {"message": "temperature is fixed"}}, 400)(body) if "temperature" in body else None

    faulty = served(Faulty(reply=refuse))
    assert asked(faulty).findings == ()
    assert len(faulty.asked) == 2 * len(QUESTIONS) + 1


def test_a_question_that_is_refused_is_a_warning(served: Serve) -> None:
    def refuse(body: Any) -> Response | None:
        return said({"error": {"message": "no tool_choice"}}, 400)(body) if "tool_choice" in body else None

    report = asked(served(Faulty(reply=refuse)))
    assert {one.question for one in report.findings} == {"forced call", "any call", "forbidden call"}
    assert rules(report, "warning") == {"refused"}
    assert report.faithful


KEY = "sk-very-secret-4711"


def test_the_key_is_sent_and_never_reported(served: Serve, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def echo(_: Any) -> Response:
        return said({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)(_)

    faulty = served(Faulty(reply=echo))
    monkeypatch.setenv("MY_KEY", KEY)
    for json_flag in ((), ("--json",)):
        code, out, err = run("probe", "--base-url", faulty.url, "--model", "m", "--api-key-env", "MY_KEY", *json_flag)
        assert code == 2
        assert KEY not in out + err
        assert "unauthorized" in out
    assert faulty.asked[0][1]["authorization"] == f"Bearer {KEY}"


ECHOES: dict[str, Any] = {
    "an error": lambda text: Response(json.dumps({"error": {"message": text}}), 401, media_type="application/json"),
    "a page": lambda text: Response(text, 500),
    "no answer": lambda text: Response(json.dumps({"detail": text}), media_type="application/json"),
    "no JSON": lambda text: Response(text, media_type="application/json"),
    "a redirect": lambda text: RedirectResponse(f"http://127.0.0.1/{text.strip()}"),
    "an event": lambda text: Response(framed([{"error": text}]), media_type="text/event-stream"),
    "content": lambda text: Response(json.dumps(whole(Said(text))), media_type="application/json"),
}


@pytest.mark.parametrize("cut", [0, 12])
@pytest.mark.parametrize("how", ECHOES)
def test_no_part_of_the_key_is_reported_where_an_answer_is_shortened(served: Serve, how: str, cut: int) -> None:
    """Whatever is before the key: the report shows 200 characters of an answer."""
    text = " " * (SHOWN - len(KEY) - cut) + "".join(f"{KEY} " for _ in range(9))
    faulty = served(Faulty(reply=lambda _: ECHOES[how](text)))
    report = asked(faulty, api_key=KEY)
    assert KEY[:4] not in f"{report.to_json()}{report}{verdict(report)}"
    assert report.findings


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-sécret"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_reported(key: str) -> None:
    with pytest.raises(ValueError, match="no HTTP header can hold") as caught:
        probe("http://127.0.0.1:1/v1", "m", api_key=key)
    assert key not in str(caught.value)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_server_that_drops_every_call_is_told_so(served: Serve, run: Any) -> None:
    dropped = served(Faulty(say=lambda _, said: replace(said, calls=(), finish="stop")))
    report = probe(dropped.url, "m")
    assert verdict(report).startswith("no call came in any of 22 answers: the server drops calls, or does not show")
    empty = [one.question for one in report.findings if (one.rule, one.mode) == ("no_text", "whole")]
    assert "one call" in empty
    out = run("probe", "--base-url", dropped.url, "--model", "m")[1]
    severities = [line.split()[0] for line in out.splitlines() if line[:1].strip()]
    assert severities == ["verdict", *sorted(severities[1:])]
    assert "--jinja" in out


def test_the_command(served: Serve, run: Any) -> None:
    fine = served(Faulty())
    assert run("probe", "--base-url", fine.url, "--model", "m")[0] == 0
    code, out, _ = run("probe", "--base-url", fine.url, "--model", "m", "--json")
    assert code == 0
    assert json.loads(out) == {
        "base_url": fine.url,
        "model": "m",
        "asked": 22,
        "verdict": "this server's tool calling is faithful in 22 answers",
        "faithful": True,
        "unusable": False,
        "findings": [],
    }
    faulty = served(Faulty(say=as_text("hermes")))
    code, out, err = run("probe", "--base-url", faulty.url, "--model", "m")
    assert code == 1
    assert "markup_in_content" in out
    assert "hermes: get_weather" in out
    assert out.splitlines()[0] == (
        "verdict           this server's tool parser is off: its calls are text in the format hermes; start vLLM with "
        "`--enable-auto-tool-choice --tool-call-parser hermes`, SGLang with its own `--tool-call-parser`, "
        "llama.cpp with `--jinja`; or put `toolfmt serve --upstream URL --api text --dialect hermes` in front"
    )
    assert err.endswith(out.splitlines()[0].replace("verdict          ", "toolfmt:") + "\n")
    labels = {line[:18].strip() for line in out.splitlines()}
    assert {"verdict", "error"} <= labels <= {"verdict", "error", "warning", ""}
    assert "22 answers" in err
    code, out, _ = run("probe", "--base-url", faulty.url, "--model", "m", "--json")
    first = json.loads(out)["findings"][0]
    assert (code, first["rule"], first["question"], first["mode"]) == (1, "markup_in_content", "one call", "whole")


@pytest.mark.parametrize(
    "url", ["http://a..b/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:0", "http://[::1", "http://[x]/"]
)
def test_an_address_that_leads_nowhere_is_textin_a_line(url: str, run: Any) -> None:
    code, _, err = run("probe", "--base-url", url, "--model", "m", "--timeout", "1")
    assert code == 2
    assert "Traceback" not in err


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://here/v1", "http://", ""])
def test_a_url_that_is_none_is_refused(url: str, run: Any) -> None:
    code, _, err = run("probe", "--base-url", url, "--model", "m")
    assert code == 2
    assert "URL" in err
    assert "Traceback" not in err


def test_a_key_that_is_not_set_is_refused(run: Any) -> None:
    code, _, err = run("probe", "--base-url", "http://127.0.0.1:1", "--model", "m", "--api-key-env", "NOT_SET_ANYWHERE")
    assert code == 2
    assert "NOT_SET_ANYWHERE" in err


def test_the_extra_that_is_missing_is_named(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("toolfmt.workshop.probing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    code, _, err = run("probe", "--base-url", "http://127.0.0.1:1", "--model", "m")
    assert code == 2
    assert install_line("probe") in err


def test_a_time_out_is_positive() -> None:
    with pytest.raises(ValueError, match="timeout"):
        probe("http://127.0.0.1:1/v1", "m", timeout=0)


def test_control_characters_of_a_server_do_not_steer_a_terminal(served: Serve, run: Any) -> None:
    faulty = served(Faulty(reply=said({"error": {"message": "\x1b[2Jgone"}}, 404)))
    _, out, _ = run("probe", "--base-url", faulty.url, "--model", "m")
    assert "\x1b" not in out
