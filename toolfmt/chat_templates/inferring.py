"""A new dialect from what a chat template writes: what stays the same between answers is the format.

    [CALL]f{"a": 1}[/CALL]              one call: what stands around it
    [CALL]f{"a": 1}[/CALL][CALL]g{}[/CALL]      two: what belongs to each, and what to all

The way of llama.cpp's template analysis: names, values and the number of calls
change, and the answers are compared. What comes out is data, and counts only if
the dialect made of it reads back every answer that was rendered.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolfmt.chat_templates.cores import Core, core, shared
from toolfmt.chat_templates.recognising import reads
from toolfmt.dialect import Provenance
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.syntax import Form, Syntax
from toolfmt.text import text_dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.chat_templates.answers import Answer, Answers
    from toolfmt.dialect import Dialect
    from toolfmt.syntax import Pair

_LIKE_SLOT: Final = re.compile(r"\{\?|\?\}|\{[a-z_]+1?\}")
_MARKER: Final = re.compile(r"[<\[]|[^\w\s]{2}|\w{3}")


class NotInferredError(Exception):
    """Why no dialect comes out of a template's answers."""


def infer(found: Answers, *, name: str, stop: tuple[str, ...] = ()) -> Dialect[str]:
    """Make a dialect that reads all answers; `stop` are tokens that end a turn. Raises `NotInferredError`."""
    if found.one is None or found.other is None:
        raise NotInferredError("calls with other names and values are not written alike")
    problem = "how a call is written is not told: neither JSON, nor keywords, nor elements behind its name"
    for form, single in _forms(found):
        if _MARKER.search(form.section.replace("{calls}", "") + re.sub(r"\{[a-z]+\}", "", form.call)) is None:
            problem = "no marker tells a call from text"
            continue
        reasoning = (found.thought,) if found.thought and all(part.strip() for part in found.thought) else ()
        syntax = Syntax(
            forms=(form,),
            reasoning=reasoning,
            unwrap=_wrapper(found.wrapper, reasoning),
            before_calls="\n",
            stop=tuple(dict.fromkeys(filter(None, (*_ends(found), *stop)))),
            single=single,
        )
        made = text_dialect(
            name=name,
            summary="inferred from a chat template",
            syntax=syntax,
            schema=openai_line,
            manifest="native.jinja",
            sources=(Provenance(reference="a model's own chat template", kind="template"),),
        )
        wrong = [answer for answer in found.with_calls() if not reads(made, answer, whole=True)]
        if not wrong:
            return made
        problem = f"what comes out does not read back {wrong[0].text[:80]!r}"
    raise NotInferredError(problem)


def _forms(found: Answers) -> Iterator[tuple[Form, bool]]:
    """Give the forms that one and two calls may have, the likeliest first, and whether an answer holds one alone."""
    assert found.one is not None  # noqa: S101 - asked by the caller
    body = found.one.bodies()[0]
    first = _core(body, found.one, 0, 0)
    if first is None:
        return
    before, behind = body[: first.start], body[first.end :]
    if found.two is None:
        yield _form(first, before, behind), True
    elif (form := _parallel(found.two, found.two.bodies()[0], first, before, behind)) is not None:
        yield form, False


def _core(body: str, answer: Answer, number: int, start: int) -> Core | None:
    found = core(body, answer.calls[number], start)
    outside = "" if found is None else body[: found.start] + body[found.end :] + found.template
    fixed = re.sub(r"\{(?:name|call|args|members)\}", "", outside)
    return None if found is None or _LIKE_SLOT.search(fixed) else found


def _parallel(answer: Answer, body: str, first: Core, before: str, behind: str) -> Form | None:
    """Tell what belongs to each call from what belongs to all, by an answer with two."""
    one = _core(body, answer, 0, 0)
    two = _core(body, answer, 1, one.end) if one is not None else None
    if one is None or two is None or one.template != two.template:
        return None
    opening, between, closing = body[: one.start], body[one.end : two.start], body[two.end :]
    if opening.strip() != before.strip() or closing.strip() != behind.strip():
        return None
    if between.startswith(behind) and between.endswith(before) and len(between) >= len(before) + len(behind):
        separator = between[len(behind) : len(between) - len(before)]
        return replace(_form(first, before, behind), separator=separator)
    listed = before.rstrip().endswith("[") and behind.lstrip().startswith("]") and between.strip() == ","
    if listed and first.json is not None:
        opener, closer = before.rstrip()[:-1], behind.lstrip()[1:]
        made = Form(section=f"{opener}{{calls}}{closer}", call="{call}", separator=", ", each=False, array=True)
        return replace(made, json=first.json)
    begin = shared(before, between, last=True)
    end = shared(behind, between.removesuffix(begin), last=False)
    separator = between.removeprefix(end).removesuffix(begin)
    if _MARKER.search(separator):
        return None
    section = f"{before.removesuffix(begin)}{{calls}}{behind.removeprefix(end)}"
    return replace(_form(first, begin, end), section=section, separator=separator, each=False)


def _form(found: Core, before: str, behind: str) -> Form:
    """Make the form of a call with its own markers around it."""
    before, behind = before.lstrip(), behind.rstrip()
    if found.json is not None:  # several objects in one pair of markers are read as well
        return Form(section=f"{before}{{calls}}{behind}", call="{call}", json=found.json)
    return Form(call=f"{before}{found.template}{behind}", elements=found.elements, literals=found.literals)


def _wrapper(text: str, reasoning: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Give the marker that stands before a text, if there is one that has nothing to do with reasoning."""
    for marker in (part.strip() for pair in reasoning for part in pair):
        text = text.replace(marker, "")
    text = re.sub(r"</?\w*think\w*>", "", text).strip()
    return ((text, ""),) if text.startswith(("<", "[")) and not _LIKE_SLOT.search(text) else ()


def _ends(found: Answers) -> tuple[str, ...]:
    """The markers that end a turn."""
    tails = {answer.tail for answer in found.with_calls() if answer.tail}
    return tuple(tail for tail in tails if re.fullmatch(r"[<\[][^\s<>\[\]]+[>\]]", tail))
