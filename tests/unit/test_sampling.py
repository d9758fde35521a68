"""What a run without `--all` leaves out adds no part that the code could see."""

from __future__ import annotations

from dataclasses import replace

import pytest

import toolfmt
from tests import sampling
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.lookup.registry import default_registry

KNOWN = {dialect.name: sampling.parts(dialect) for dialect in default_registry() if dialect.syntax is not None}
SYNTAX = Syntax(forms=(Form(call="<a>{name}|{args}</a>"),))


def made(syntax: Syntax) -> Dialect[str]:
    return toolfmt.text_dialect(name="made", summary="", syntax=syntax, schema=str, manifest="", sources=())


def test_every_part_of_every_dialect_is_in_a_representative() -> None:
    chosen = sampling.representatives(KNOWN)
    for name, parts in KNOWN.items():
        for part in parts:
            assert any(part in KNOWN[one] for one in chosen), (name, part)
    assert len(chosen) < len(KNOWN) / 2 + 1


def test_of_each_field_there_is_one_that_has_it_and_one_that_has_not() -> None:
    chosen = {(path, bool(value)) for dialect in sampling.kinds() for path, value in sampling.parts(dialect)}
    assert chosen == {(path, bool(value)) for parts in KNOWN.values() for path, value in parts}


@pytest.mark.parametrize("everything", [True, False])
def test_one_dialect_may_be_asked_for(monkeypatch: pytest.MonkeyPatch, everything: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr(sampling, "everything", everything)
    for name in KNOWN:
        monkeypatch.setattr(sampling, "only", name)
        sampling.check_only()
        assert [[one.name for one in some] for some in (sampling.kinds(), sampling.bodies())] == [[name], [name]]
    monkeypatch.setattr(sampling, "only", "hermse")
    with pytest.raises(pytest.UsageError, match="did you mean 'hermes'"):
        sampling.check_only()


@pytest.mark.parametrize("everything", [True, False])
def test_all_means_every_dialect(monkeypatch: pytest.MonkeyPatch, everything: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr(sampling, "everything", everything)
    assert (set(sampling.names()) == KNOWN.keys()) == everything
    assert set(sampling.names()) == set(KNOWN if everything else sampling.representatives(KNOWN))


@pytest.mark.parametrize(
    ("syntax", "same"),
    [
        (replace(SYNTAX, forms=(Form(call="<b>{name}/{args}</other>"),)), True),
        (replace(SYNTAX, forms=(Form(call="<a>{name}|{args}\n</a>"),)), False),
        (replace(SYNTAX, forms=(Form(call="<a>{name}|{args}</a>{? {id}?}"),)), False),
        (replace(SYNTAX, lines=True), False),
        (replace(SYNTAX, forms=(replace(SYNTAX.forms[0], alone=True),)), False),
    ],
)
def test_the_words_of_a_marker_are_no_part_and_all_else_is(syntax: Syntax, *, same: bool) -> None:
    assert (sampling.parts(made(syntax)) == sampling.parts(made(SYNTAX))) == same


def test_a_dialect_with_a_new_part_is_tested_at_once() -> None:
    new = made(Syntax(forms=(Form(call="<{id}>{name}<{server}>{args}</{agent}>"),), lines=True))
    assert "made" in sampling.representatives({**KNOWN, "made": sampling.parts(new)})
    assert "made" not in sampling.representatives({**KNOWN, "made": KNOWN["hermes"]})
