from __future__ import annotations

from typing import Any

import pytest

from toolfmt.dialect.record import AnyDialect, Dialect, Traits
from toolfmt.lookup.registry import Registry
from toolfmt.lookup.settings import SETTINGS, FormatSettings, TeamSettings, from_setting

PLAIN = FormatSettings()
XML = FormatSettings(use_xml=True)
NOT_XML = FormatSettings(use_xml=False)
REACT = FormatSettings(dialect="react")


def team(use_xml: bool | None) -> TeamSettings:  # noqa: FBT001
    inner = TeamSettings(members={"deep": PLAIN, "deep_xml": XML})
    return TeamSettings(
        members={"plain": PLAIN, "xml": XML, "not_xml": NOT_XML, "react": REACT, "inner": inner}, use_xml=use_xml
    )


def test_a_team_without_a_flag_leaves_each_agent_its_own() -> None:
    assert team(None).applied() == team(None).members


def test_a_teams_flag_overrides_every_direct_member_and_no_sub_team() -> None:
    inner = team(None).members["inner"]
    assert team(use_xml=True).applied() == {"plain": XML, "xml": XML, "not_xml": XML, "react": XML, "inner": inner}
    assert team(use_xml=False).applied() == {
        "plain": NOT_XML,
        "xml": NOT_XML,
        "not_xml": NOT_XML,
        "react": FormatSettings(use_xml=False, dialect="react"),
        "inner": inner,
    }


def test_a_sub_team_applies_its_own_flag() -> None:
    outer = TeamSettings(members={"inner": TeamSettings(members={"deep": XML}, use_xml=False)}, use_xml=True)
    inner = outer.applied()["inner"]
    assert isinstance(inner, TeamSettings)
    assert inner.applied() == {"deep": NOT_XML}


@pytest.mark.parametrize("text", ["xml", "XML", " Xml\n"])
def test_a_word_is_read_trimmed_and_in_any_case(text: str) -> None:
    assert from_setting(text) == XML


@pytest.mark.parametrize("text", [None, "", "  "])
def test_no_word_is_the_default(text: str | None) -> None:
    assert from_setting(text) == PLAIN
    assert from_setting(text, default=REACT) is REACT


@pytest.mark.parametrize("text", ["yaml", "x m l", "true"])
def test_a_bad_word_is_the_default_with_a_warning(text: str) -> None:
    with pytest.warns(UserWarning, match=f"^'{text}' is no format setting.*; there are xml, json, sentinel, native$"):
        assert from_setting(text, default=REACT) is REACT


def test_a_word_replaces_the_flags_of_agents_and_teams() -> None:
    assert from_setting("native", default=XML) == NOT_XML
    assert from_setting("json", default=XML) == FormatSettings(use_xml=False, dialect="default-json")
    assert from_setting("sentinel", default=REACT) == FormatSettings(use_xml=False, dialect="sentinel")
    assert set(SETTINGS) == {"xml", "json", "sentinel", "native"}


def named(name: str) -> AnyDialect:
    def nothing(*_: object) -> Any:
        raise AssertionError

    return Dialect(
        name=name,
        summary="",
        schema=nothing,
        example=nothing,
        calls=nothing,
        results=nothing,
        open_parser=nothing,
        traits=Traits(),
        sources=(),
    )


@pytest.mark.parametrize(
    ("settings", "dialect"),
    [
        (PLAIN, "openai-json"),
        (NOT_XML, "openai-json"),
        (XML, "xml-items"),
        (REACT, "react"),
        (from_setting("json"), "default-json"),
        (from_setting("sentinel"), "sentinel"),
        (from_setting("native"), "openai-json"),
        (REACT.in_team(use_xml=True), "xml-items"),
    ],
)
def test_settings_choose_the_dialect(settings: FormatSettings, dialect: str) -> None:
    names = ("openai-json", "default-json", "xml-items", "react", "sentinel")
    registry = Registry(dialects=tuple(map(named, names)))
    assert settings.choose(registry, provider="openai").name == dialect
    assert settings.choose(registry, model="gpt-4o").name == dialect


def test_settings_that_contradict_themselves_are_refused() -> None:
    registry = Registry(dialects=(named("react"), named("xml-items")))
    with pytest.raises(ValueError, match="use_xml=True means"):
        FormatSettings(use_xml=True, dialect="react").choose(registry)
