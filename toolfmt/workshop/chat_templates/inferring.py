"""Infers a new dialect from what a chat template writes: what stays the same between answers is the format.

    [CALL]f{"a": 1}[/CALL]              one call: what is around it
    [CALL]f{"a": 1}[/CALL][CALL]g{}[/CALL]      two: what belongs to each, and what to all

Like llama.cpp's template analysis: names, values and the number of calls change, and the answers are compared. The
result is data, and is used only if the dialect made from it reads back every rendered answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from toolfmt.dialect.record import Dialect, Provenance
from toolfmt.dialect.syntax import Form, Pair, Syntax
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.text import text_dialect
from toolfmt.workshop.chat_templates.answers import NAMED_ID, Answers, TemplateAnswer
from toolfmt.workshop.chat_templates.cores import Core, core, shared
from toolfmt.workshop.chat_templates.recognising import reads

_LIKE_SLOT: Final = re.compile(r"\{\?|\?\}|\{[a-z_]+1?\}")
_FIRST: Final = re.compile(r"\s*(?:<[^<>]*>|\[[^\[\]]*\])\s*")
_LONGEST: Final = 512
"""Characters that all markers of a format may have together."""
_LEAST_ID: Final = 4
"""A shorter id may be in a text by chance."""
_MARKER: Final = re.compile(r"[<\[]|[^\w\s]{2}|\w{3}")


class NotInferredError(Exception):
    """Why no dialect can be inferred."""


def infer(found: Answers, *, name: str, stop: tuple[str, ...] = ()) -> Dialect[str]:
    """Make a dialect that reads all answers; `stop` are tokens that end a turn. Raises `NotInferredError`."""
    if found.one is None or found.other is None:
        raise NotInferredError("calls with other names and values are not written alike")
    problem = "the way a call is written is unknown: neither JSON, nor keywords, nor elements after its name"
    for form, single in _forms(found):
        if _MARKER.search(form.section.replace("{calls}", "") + re.sub(r"\{[a-z]+\}", "", form.call)) is None:
            problem = "no marker distinguishes a call from text"
            continue
        around = (form.section, form.call, form.separator, form.elements.member if form.elements else "")
        if sum(map(len, (*around, *(found.thought or ()), found.wrapper))) > _LONGEST:
            problem = f"the text around a call has more than {_LONGEST} characters"
            continue
        reasoning, rest = _reasoning(found)
        syntax = Syntax(
            forms=(form,),
            reasoning=reasoning,
            unwrap=_wrapper(rest or found.wrapper, reasoning),
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
    """Return the forms that one and two calls may have, the likeliest first, and whether an answer holds one alone."""
    assert found.one is not None  # noqa: S101 - asked by the caller
    one, two = _unnumbered(found.one), None if found.two is None else _unnumbered(found.two)
    body = one.bodies()[0]
    first = _core(body, one, 0, 0)
    if first is None:
        return
    if first.elements is not None and found.markup is not None and "&lt;b&gt;" in found.markup.text:
        first = replace(first, elements=replace(first.elements, escape="xml"))
    if first.literals is not None:  # the other call has the words of the language, and keys out of order
        second = _core(found.other.bodies()[0], found.other, 0, 0) if found.other is not None else None
        first = replace(first, literals=second.literals if second is not None else first.literals)
    before, after = body[: first.start], body[first.end :]
    form = _form(first, before, after) if two is None else _parallel(two, two.bodies()[0], first, before, after)
    if form is not None:
        yield _with_ids(form, found.one), two is None


def _written_id(answer: TemplateAnswer, at: int) -> str:
    """Find the id that was written for a call, the one it was given or one that counts; "" if there is none."""
    call = answer.calls[at]
    tried = (call.id or "", NAMED_ID.format(name=call.name, index=at))
    return next((one for one in tried if len(one) >= _LEAST_ID and one in answer.text), "")


def _unnumbered(answer: TemplateAnswer) -> TemplateAnswer:
    """Put a slot in place of the calls' ids; where an id holds the name, it means the name."""
    text, calls = answer.text, list(answer.calls)
    for at, call in enumerate(answer.calls):
        id_ = _written_id(answer, at)
        if id_:
            text = text.replace(id_, "{id}")
            name = "{id}" if call.name in id_ else call.name
            calls[at] = call.model_copy(update={"id": "{id}", "name": name})
    return replace(answer, text=text, calls=tuple(calls))


def _with_ids(form: Form, answer: TemplateAnswer) -> Form:
    """Describe what an id holds, and which one is written for a call that has none."""
    id_ = _written_id(answer, 0)
    if answer.calls[0].name in id_:
        return replace(form, call=form.call.replace("{name}", "{id}"), name_in_id=NAMED_ID)
    form = replace(form, call=form.call.replace("{id}", "{?{id}?}"))  # a call may have none
    numbered = form.json is not None and "{id}" in form.json.template.values() and not id_
    return replace(form, id_if_missing="{index}") if numbered else form


def _alike(one: Core, two: Core) -> Core:
    """Leave out of a JSON call what differs between two calls; a number that counts them is an id."""
    if one.json is None or two.json is None or one.json.template == two.json.template:
        return one
    other = two.json.template
    kept: dict[str, object] = {}
    for key, value in one.json.template.items():
        if key in other and other[key] == value:
            kept[key] = value
        elif value == "0" and other.get(key) == "1":
            kept[key] = "{id}"
    return replace(one, json=replace(one.json, template=kept))


def _core(body: str, answer: TemplateAnswer, number: int, start: int) -> Core | None:
    found = core(body, answer.calls[number], start)
    outside = "" if found is None else body[: found.start] + body[found.end :] + found.template
    fixed = re.sub(r"\{(?:name|call|args|members|id)\}", "", outside)
    return None if found is None or _LIKE_SLOT.search(fixed) else found


def _parallel(answer: TemplateAnswer, body: str, first: Core, before: str, after: str) -> Form | None:
    """Tell what belongs to each call from what belongs to all, by an answer with two."""
    one = _core(body, answer, 0, 0)
    two = _core(body, answer, 1, one.end) if one is not None else None
    if one is None or two is None or one.template != two.template:
        return None
    first = _alike(first, two)
    opening, between, closing = body[: one.start], body[one.end : two.start], body[two.end :]
    if opening.strip() != before.strip() or closing.strip() != after.strip():
        return None
    if between.startswith(after) and between.endswith(before) and len(between) >= len(before) + len(after):
        separator = between[len(after) : len(between) - len(before)]
        return replace(_form(first, before, after), separator=separator)
    listed = before.rstrip().endswith("[") and after.lstrip().startswith("]") and between.strip() == ","
    if listed and first.json is not None:
        opener, closer = before.rstrip()[:-1], after.lstrip()[1:]
        made = Form(section=f"{opener}{{calls}}{closer}", call="{call}", separator=", ", each=False, array=True)
        return replace(made, json=first.json)
    begin = shared(before, between, last=True).lstrip()
    end = shared(after, between.removesuffix(begin), last=False).rstrip()
    separator = between.removeprefix(end).removesuffix(begin)
    if _MARKER.search(separator):
        return None
    section = f"{before.removesuffix(begin)}{{calls}}{after.removeprefix(end)}"
    return replace(_form(first, begin, end), section=section, separator=separator, each=False)


def _form(found: Core, before: str, after: str) -> Form:
    before, after = before.lstrip(), after.rstrip()
    if found.json is not None:  # several objects in one pair of markers are read as well
        return Form(section=f"{before}{{calls}}{after}", call="{call}", json=found.json)
    return Form(call=f"{before}{found.template}{after}", elements=found.elements, literals=found.literals)


def _reasoning(found: Answers) -> tuple[tuple[Pair, ...], str]:
    """Return the markers around reasoning, and what is between them and the text besides."""
    opener, closer = found.thought or ("", "")
    first = _FIRST.match(closer)
    end = closer if first is None else first.group()
    if not opener.strip() or not end.strip() or _LIKE_SLOT.search(opener + closer):
        return (), ""
    return ((opener, end),), closer[len(end) :]


def _wrapper(text: str, reasoning: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return the marker before a text, if there is one that has nothing to do with reasoning."""
    for marker in (part.strip() for pair in reasoning for part in pair):
        text = text.replace(marker, "")
    text = re.sub(r"</?\w*think\w*>", "", text).strip()
    return ((text, ""),) if text.startswith(("<", "[")) and not _LIKE_SLOT.search(text) else ()


def _ends(found: Answers) -> tuple[str, ...]:
    tails = {answer.tail for answer in found.with_calls() if answer.tail}
    return tuple(tail for tail in tails if re.fullmatch(r"[<\[][^\s<>\[\]]+[>\]]", tail))
