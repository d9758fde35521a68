"""A response template that is wrong, or says what no dialect can do, is refused; the error names the field."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapes import JSON_TAGS, NAMED, PARAMETERS, TEMPLATES

import toolfmt

DROP = object()
WRONG = {
    "version": ({"version": 2}, "/version"),
    "version-true": ({"version": True}, "/version"),
    "unknown-key": ({"fieldz": {}}, "/fieldz"),
    "defaults": ({"defaults": []}, "/defaults"),
    "default-without-a-place": ({"defaults": {"citations": []}}, "/defaults/citations"),
    "no-fields": ({"fields": {}}, "/fields"),
    "fields-list": ({"fields": []}, "/fields"),
    "no-anchor": ({"start_anchor": DROP}, "/start_anchor"),
    "two-anchors": ({"start_anchor_pattern": "x"}, "/start_anchor"),
    "anchor-number": ({"start_anchor": 3}, "/start_anchor"),
    "anchor-of-nothing": ({"start_anchor": ["<a>", ""]}, "/start_anchor/1"),
    "no-calls": ({"fields.tool_calls": DROP}, "/fields/tool_calls"),
    "unknown-field": ({"fields.a/b": {"open": "<c>"}}, "/fields/a~1b"),
    "field-list": ({"fields.thinking": []}, "/fields/thinking"),
    "field-key": ({"fields.thinking.opens": "<a>"}, "/fields/thinking/opens"),
    "two-openers": ({"fields.thinking.open_pattern": "<a>"}, "/fields/thinking/open"),
    "two-implicit": ({"fields.thinking.open": DROP}, "/fields/content"),
    "blank-marker": ({"fields.thinking.close": " \n"}, "/fields/thinking/close"),
    "no-markers": ({"fields.thinking.close": []}, "/fields/thinking/close"),
    "marker-number": ({"fields.thinking.close": ["</think>", 1]}, "/fields/thinking/close/1"),
    "like-a-slot": ({"fields.thinking.open": "{think}"}, "/fields/thinking/open"),
    "long-marker": ({"fields.thinking.open": "<" * 3000}, "/fields/thinking/open"),
    "content": ({"fields.tool_calls.content": "yaml"}, "/fields/tool_calls/content"),
    "content-of-text": ({"fields.thinking.content": "json"}, "/fields/thinking/content"),
    "lines": ({"fields.tool_calls.content": "kv-lines"}, "/fields/tool_calls/content"),
    "args": ({"fields.tool_calls.content_args": {"strict": True}}, "/fields/tool_calls/content_args/strict"),
    "arg-type": ({"fields.thinking.content_args": {"strip": 1}}, "/fields/thinking/content_args/strip"),
    "repeats": ({"fields.tool_calls.repeats": "yes"}, "/fields/tool_calls/repeats"),
    "join": ({"fields.thinking.join": ""}, "/fields/thinking/join"),
    "each-of-nothing": ({"fields.thinking.transform_each": True}, "/fields/thinking/transform_each"),
    "mixed": ({"fields.tool_calls.transform": {"function": "call {content}"}}, "/fields/tool_calls/transform/function"),
    "no-name": (
        {"fields.tool_calls.transform": {"function": {"arguments": "{content}"}}},
        "/fields/tool_calls/transform/function/name",
    ),
    "unknown-group": (
        {"fields.tool_calls.transform": {"function": {"name": "{tool}", "arguments": "{content}"}}},
        "/fields/tool_calls/transform/function/name",
    ),
    "constant": (
        {"fields.tool_calls.transform": {"function": {"name": "search", "arguments": "{content}"}}},
        "/fields/tool_calls/transform/function/name",
    ),
    "untaken-group": (
        {"fields.thinking.open": DROP, "fields.thinking.open_pattern": "<think (?P<how>.+?)>"},
        "/fields/thinking/transform",
    ),
    "delimiters": (
        {"fields.tool_calls.content_args": {"string_delims": [["<a>"]]}},
        "/fields/tool_calls/content_args/string_delims/0",
    ),
    "name-inside-arguments": (
        {"fields.tool_calls.transform": {"function": {"name": "{content.a}", "arguments": "{content.a.b.c}"}}},
        "/fields/tool_calls/transform",
    ),
    "two-delimiters": (
        {"fields.tool_calls.content_args": {"string_delims": [["<a>", "<b>"]]}},
        "/fields/tool_calls/content_args/string_delims/0",
    ),
}
PATTERNS = {
    "nested-repetition": "<a>(x+)+$",
    "counted": "<a>(?:ab){1,9}",
    "lookbehind": "(?<!x)<a>",
    "negative": "<a>(?!x)",
    "flags": "(?i)<a>",
    "not-closed": "<a>(x",
    "closed-twice": "<a>)",
    "class": "<a>[z-a]",
    "open-class": "<a>[z",
    "escape": r"<a>\p",
    "last-backslash": "<a>\\",
    "brace": "<a>{",
    "many": "<a>" + "(?:a|b)" * 5,
    "deep": "(?:" * 40 + "a" + ")" * 40,
    "long": "a" * 3000,
    "control": "<a>\x01",
    "nothing": r"\s*",
    "number": 5,
}


def changed(template: dict, changes: dict) -> dict:
    template = copy.deepcopy(template)
    for path, value in changes.items():
        *keys, last = path.split(".")
        here = template
        for key in keys:
            here = here[key]
        if value is DROP:
            del here[last]
        else:
            here[last] = value
    return template


@pytest.mark.parametrize(("changes", "pointer"), WRONG.values(), ids=WRONG)
def test_the_wrong_field_is_named(changes: dict, pointer: str) -> None:
    with pytest.raises(toolfmt.errors.ResponseTemplateError) as caught:
        toolfmt.response_dialect(changed(JSON_TAGS, changes))
    assert caught.value.pointer == pointer
    assert pointer in str(caught.value)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern_that_is_no_marker_is_refused_and_not_run(pattern: object) -> None:
    changes = {"fields.tool_calls.open": DROP, "fields.tool_calls.open_pattern": pattern}
    with pytest.raises(toolfmt.errors.ResponseTemplateError) as caught:
        toolfmt.response_dialect(changed(JSON_TAGS, changes))
    assert caught.value.pointer.startswith("/fields/tool_calls")


@pytest.mark.parametrize(
    ("tag", "pointer"),
    [
        ("<p>(?P<value>.*?)</p>", "tag_pattern"),
        ("<p=(?P<key>.*?)>(?P<value>.*?)", "tag_pattern"),
        ("(?P<key>.*?)=(?P<value>.*?);", "tag_pattern"),
        (7, "tag_pattern"),
    ],
)
def test_an_argument_needs_a_key_and_markers_around_its_value(tag: object, pointer: str) -> None:
    with pytest.raises(toolfmt.errors.ResponseTemplateError) as caught:
        toolfmt.response_dialect(changed(PARAMETERS, {"fields.tool_calls.content_args.tag_pattern": tag}))
    assert caught.value.pointer == f"/fields/tool_calls/content_args/{pointer}"


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"fields": {}, "fields": {}}', "x" * 2_000_000])
def test_text_that_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(toolfmt.errors.ResponseTemplateError):
        toolfmt.response_dialect(text)


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(TypeError, match="template= must be a dict or a str, not list"):
        toolfmt.response_dialect([])  # pyright: ignore[reportArgumentType] - a caller's mistake
    with pytest.raises(toolfmt.errors.ResponseTemplateError, match="an object is due, not list"):
        toolfmt.response_dialect("[]")


def test_names_in_both_the_marker_and_the_body_are_refused() -> None:
    template = changed(JSON_TAGS, {"fields.tool_calls.open": DROP})
    template["fields"]["tool_calls"] |= {
        "open_pattern": "<call=(?P<name>.+?)>",
        "transform": {"name": "{name}", "arguments": "{content.args}"},
    }
    with pytest.raises(toolfmt.errors.ResponseTemplateError) as caught:
        toolfmt.response_dialect(template)
    assert caught.value.pointer == "/fields/tool_calls/transform"


@given(data=st.data())
def test_no_template_however_odd_raises_anything_else(data: st.DataObject) -> None:
    """A value anywhere in a template is replaced by another one."""
    template = copy.deepcopy(data.draw(st.sampled_from(list(TEMPLATES.values()))))
    here: Any = template
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here))) if isinstance(here, list) else []
        key = data.draw(st.sampled_from(keys))
        inner = here[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        here = inner
    odd = st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.just({}), st.just([]), st.text(max_size=6)),
        st.text("()[]{}?*+|\\^$.<>=PNnamesw!:", max_size=12),
        st.lists(st.text(max_size=3), max_size=3),
        st.sampled_from([NAMED, "{content}", "{content.a}", "{name}", "json", "xml-inline", "(?P<name>.+?)"]),
    )
    here[key] = data.draw(odd)
    with suppress(toolfmt.errors.ResponseTemplateError):
        dialect = toolfmt.response_dialect(json.dumps(template))
        toolfmt.parse("text <think>a</think><tool_call>{}</tool_call>", dialect=dialect)
