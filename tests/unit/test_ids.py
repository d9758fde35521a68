"""Ids: which call gets which, and where randomness comes in."""

from __future__ import annotations

import re
from random import Random
from uuid import UUID

import pytest

from toolfmt import ids
from toolfmt.model import ToolInvocation

F1 = "call_764c8f5f5fd2fc0905260dcc687fdb770c3db49ad1a458b7739da7796024afc5"


def seeded() -> Random:
    return Random(7)  # noqa: S311 - the same ids in every run are the point


def call(name: str = "f", arguments: dict[str, object] | None = None, id: str | None = None) -> ToolInvocation:  # noqa: A002
    return ToolInvocation(name=name, arguments={"a": 1} if arguments is None else arguments, id=id)


def test_hashed_ids_depend_on_the_call_alone() -> None:
    mint = ids.hashed()
    assert mint(call()) == mint(call()) == F1
    assert mint(call(arguments={"a": 1, "b": "é"})) == mint(call(arguments={"b": "é", "a": 1}))
    different = {mint(call(arguments={"a": value})) for value in (1, 1.0, True, "1", [1])} | {mint(call("g"))}
    assert len(different) == 6


def test_session_ids_count_the_same_call() -> None:
    mint = ids.session()
    other = ids.hashed()(call("g"))
    assert [mint(call()), mint(call("g")), mint(call())] == [f"{F1}_0", f"{other}_0", f"{F1}_1"]
    assert ids.session()(call()) == f"{F1}_0"


def test_counter() -> None:
    mint = ids.counter("c-", start=3)
    assert [mint(call()), mint(call("g"))] == ["c-3", "c-4"]
    assert ids.counter()(call()) == "call_0"


def test_uuid4_takes_its_randomness_from_the_source() -> None:
    first, second = ids.uuid4(seeded()), ids.uuid4(seeded())
    minted = [first(call()) for _ in range(3)]
    assert minted == [second(call()) for _ in range(3)]
    assert len(set(minted)) == 3
    assert all(UUID(text or "").version == 4 for text in minted)
    assert ids.uuid4()(call()) != ids.uuid4()(call())


@pytest.mark.parametrize(
    ("template", "shape"),
    [
        (ids.OPENAI, r"call_[0-9A-Za-z]{24}"),
        (ids.ANTHROPIC, r"toolu_[0-9A-Za-z]{24}"),
        (ids.MISTRAL, r"[0-9A-Za-z]{9}"),
    ],
)
def test_provider_shapes(template: str, shape: str) -> None:
    mint = ids.pattern(template, seeded())
    minted = [mint(call()) or "" for _ in range(50)]
    assert len(set(minted)) == 50
    assert all(re.fullmatch(shape, text) for text in minted)
    again = ids.pattern(template, seeded())
    assert minted == [again(call()) for _ in range(50)]
    assert re.fullmatch(shape, ids.pattern(template)(call()) or "")


def test_kimi_counts_over_the_whole_conversation() -> None:
    mint = ids.pattern(ids.KIMI)
    assert [mint(call()), mint(call("g")), mint(call())] == ["functions.f:0", "functions.g:1", "functions.f:2"]
    assert ids.pattern(ids.KIMI, start=5)(call("a{name}b")) == "functions.a{name}b:5"


@pytest.mark.parametrize("template", ["call_{uuid}", "{random:0}", "{random}", "x{number", "fixed", "{name}"])
def test_a_template_that_makes_no_sense_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(template))):
        ids.pattern(template)


def test_assign_leaves_existing_ids_and_counts_only_its_own() -> None:
    calls = [call(), call("g", id="mine"), call("h")]
    assert [c.id for c in ids.assign(calls, ids.counter())] == ["call_0", "mine", "call_1"]
    assert [c.id for c in ids.assign(calls, ids.none())] == [None, "mine", None]
    assert calls[0].id is None
    assert [c.id for c in ids.assign(calls, lambda c: c.name * 2)] == ["ff", "mine", "hh"]


def test_a_name_that_is_no_text_has_an_id_as_well() -> None:
    mint = ids.hashed()
    assert len({mint(call("f\ud800")), mint(call("f\ud801")), mint(call("f"))}) == 3
