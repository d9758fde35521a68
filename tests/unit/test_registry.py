from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from shutil import make_archive
from typing import TYPE_CHECKING, Any

import pytest

from toolfmt.dialect.record import AnyDialect, Dialect, Example, ParserOptions, Traits
from toolfmt.errors import BrokenDialectError, DuplicateDialectError, ToolFmtError, UnknownDialectError
from toolfmt.events import TextDelta
from toolfmt.lookup import registry as registry_module
from toolfmt.lookup.providers import API_MODELS, PROVIDERS, Provider
from toolfmt.lookup.registry import Registry
from toolfmt.model import ToolDefinition

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from toolfmt.events import Event

TABLE_DIALECTS = ("openai-json", "gemini-json", "default-json", "xml-items")


class EchoParser:
    """Gives all that it reads back as text, headed by the dialect's name and the options' strictness."""

    def __init__(self, name: str, options: ParserOptions) -> None:
        self._heading = f"{name} {options.strict}: "

    def feed(self, chunk: str) -> list[Event]:
        return [TextDelta(self._heading + chunk, 0)]

    def close(self) -> list[Event]:
        return []


def make_dialect(name: str, *aliases: str) -> AnyDialect:
    def schema(tool: ToolDefinition) -> str:
        return f"{name} shows {tool.name}"

    def example(_: ToolDefinition) -> tuple[Example, ...]:
        return ()

    def write(*_: object) -> str:
        return ""

    return Dialect(
        name=name,
        summary=f"the dialect {name}",
        schema=schema,
        example=example,
        calls=write,
        results=write,
        open_parser=lambda options: EchoParser(name, options),
        traits=Traits(),
        sources=(),
        aliases=aliases,
    )


@pytest.fixture
def registry() -> Registry:
    return Registry(dialects=(*map(make_dialect, TABLE_DIALECTS), make_dialect("hermes", "qwen25", "qwen3_json")))


# Lookup


@pytest.mark.parametrize("name", ["hermes", "HERMES", " hermes ", "qwen25", "qwen3_json", "qwen3-json", "Qwen3_JSON"])
def test_a_dialect_answers_to_its_name_and_aliases_in_any_spelling(registry: Registry, name: str) -> None:
    assert registry.dialect(name).name == "hermes"
    assert name in registry


def test_a_dialect_object_is_its_own_answer_even_when_it_is_not_registered(registry: Registry) -> None:
    stranger = make_dialect("stranger")
    assert registry.dialect(stranger) is stranger
    assert "stranger" not in registry


def test_an_unknown_name_is_answered_with_names_that_come_close(registry: Registry) -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'hermes'") as caught:
        registry.dialect("hermess")
    assert caught.value.suggestions == ("hermes",)
    assert isinstance(caught.value, LookupError)


def test_suggestions_are_few_and_are_names_not_aliases(registry: Registry) -> None:
    wide = replace(
        registry, dialects=(*registry.dialects, *(make_dialect(f"hermes-{n}", f"hermies{n}") for n in range(9)))
    )
    with pytest.raises(UnknownDialectError) as caught:
        wide.dialect("hermies")
    assert 0 < len(caught.value.suggestions) <= 3
    assert set(caught.value.suggestions) <= set(wide.names())
    with pytest.raises(UnknownDialectError, match=r"^unknown dialect 'zzz'; `toolfmt dialects` lists all$") as caught:
        wide.dialect("zzz")
    assert caught.value.suggestions == ()


@pytest.mark.parametrize(
    ("look_up", "said"),
    [
        (lambda known: known.dialect("OpenAI"), "it is a provider: give provider='OpenAI', which means 'openai-json'"),
        (lambda known: known.dialect("gpt-4o"), "it is a model: give model='gpt-4o', which means 'openai-json'"),
        (lambda known: known.provider("qwen25"), "it is a dialect: give dialect='qwen25'"),
        (
            lambda known: known.provider("Phi"),
            "it is a family of models, which write phi4-mini: give model= the model's id",
        ),
    ],
)
def test_a_name_of_another_kind_is_reported_for_what_it_is(
    registry: Registry, look_up: Callable[[Registry], object], said: str
) -> None:
    with pytest.raises(UnknownDialectError, match=f"; {said}$"):
        look_up(registry)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"dialect": 3}, "dialect= must be a Dialect, a str or None, not 3"),
        ({"provider": ["openai"]}, "provider= must be a str or None, not list"),
        ({"model": b"gpt-4o"}, "model= must be a str or None, not bytes: decode bytes first"),
    ],
)
def test_what_is_no_name_is_a_type_error(registry: Registry, choice: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=f"^{said}$"):
        registry.resolve(**choice)


def test_dialects_come_in_the_order_of_their_names(registry: Registry) -> None:
    assert registry.names() == tuple(sorted((*TABLE_DIALECTS, "hermes")))
    assert tuple(dialect.name for dialect in registry) == registry.names()


# Growing


def test_with_dialect_leaves_the_registry_it_is_called_on_alone(registry: Registry) -> None:
    grown = registry.with_dialect(make_dialect("react"))
    assert "react" in grown
    assert "react" not in registry
    with pytest.raises(FrozenInstanceError):
        registry.dialects = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    "clashing",
    [
        make_dialect("hermes"),
        make_dialect("Qwen3_json"),
        make_dialect("other", "HERMES"),
        make_dialect("other", "qwen3-json"),
    ],
    ids=["name is a name", "name is an alias", "alias is a name", "alias is an alias"],
)
def test_two_dialects_cannot_have_one_name(registry: Registry, clashing: AnyDialect) -> None:
    with pytest.raises(DuplicateDialectError, match=r"a dialect named '(hermes|qwen3-json)' is already registered"):
        registry.with_dialect(clashing)


def test_an_alias_may_be_another_spelling_of_the_name() -> None:
    assert Registry(dialects=(make_dialect("qwen3-coder", "qwen3_coder"),)).names() == ("qwen3-coder",)


def test_with_provider_adds_a_provider_or_exchanges_the_one_of_that_name(registry: Registry) -> None:
    added = registry.with_provider(Provider("acme", "Acme", "hermes", aliases=("acme-cloud",)))
    assert added.resolve(provider="ACME_cloud").name == "hermes"
    exchanged = added.with_provider(Provider("Acme", "Acme", "xml-items"))
    assert exchanged.resolve(provider="acme").name == "xml-items"
    with pytest.raises(UnknownDialectError, match="unknown provider 'acme-cloud'"):
        exchanged.resolve(provider="acme-cloud")
    with pytest.raises(
        DuplicateDialectError, match="a provider named 'xai' is already registered: choose another name for 'xai'"
    ):
        registry.with_provider(Provider("xai", "xAI", "hermes"))


def test_an_unknown_provider_raises_with_a_hint(registry: Registry) -> None:
    assert registry.provider("X_AI").name == "grok"
    with pytest.raises(UnknownDialectError, match="unknown provider 'antropic'; did you mean 'anthropic'"):
        registry.provider("antropic")
    with pytest.raises(UnknownDialectError, match="unknown provider 'antropic'; did you mean 'anthropic'"):
        registry.resolve(provider="antropic", model="claude-opus-4")


# Choosing


@pytest.mark.parametrize(
    ("providers", "dialect"),
    [
        (("openai", "MISTRAL", "deepseek", "grok", "xai"), "openai-json"),
        (("gemini", "Google"), "gemini-json"),
        (("anthropic",), "xml-items"),
        (("ollama", "autobyteus", "kimi", "moonshot", "qwen", "LM_STUDIO", "zhipu", "baidu"), "default-json"),
        ((None,), "default-json"),
        (("openai-responses", "azure", "cohere", "groq", "together", "fireworks", "vllm", "sglang"), "openai-json"),
        (("openrouter", "perplexity", "minimax", "huggingface", "llama.cpp", "llama_cpp"), "openai-json"),
        (("vertex",), "gemini-json"),
    ],
)
def test_each_provider_has_its_dialect(registry: Registry, providers: tuple[str | None, ...], dialect: str) -> None:
    assert {registry.resolve(provider=provider).name for provider in providers} == {dialect}


@pytest.mark.parametrize("provider", [None, *(row.name for row in PROVIDERS)])
@pytest.mark.parametrize("use_xml", [False, True])
def test_the_pair_and_the_parser_are_of_one_dialect(registry: Registry, provider: str | None, use_xml: bool) -> None:  # noqa: FBT001
    chosen = registry.resolve(provider=provider, use_xml=use_xml)
    assert registry.formatter_pair(provider, use_xml=use_xml) == (chosen.schema, chosen.example)
    parser = registry.parser(provider, use_xml=use_xml, options=ParserOptions(strict=True))
    assert parser.feed("x") == [TextDelta(f"{chosen.name} True: x", 0)]
    if use_xml:
        assert chosen.name == "xml-items"


def test_a_parser_without_options_is_lenient(registry: Registry) -> None:
    assert registry.parser().feed("x") == [TextDelta("default-json False: x", 0)]


def test_a_dialect_wins_over_provider_and_model(registry: Registry) -> None:
    assert registry.resolve(dialect="qwen25", provider="anthropic", model="gpt-4o").name == "hermes"


def test_use_xml_beside_another_dialect_is_a_contradiction(registry: Registry) -> None:
    with pytest.raises(ValueError, match=r"use_xml=True means the dialect 'xml-items', but dialect='hermes' was given"):
        registry.resolve(dialect="qwen25", use_xml=True)
    assert registry.resolve(dialect="XML_items", use_xml=True).name == "xml-items"


def test_a_providers_row_can_make_exceptions_by_model(registry: Registry) -> None:
    assert registry.resolve(provider="bedrock").name == "default-json"
    claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    assert registry.resolve(provider="bedrock", model=claude).name == "xml-items"
    assert registry.resolve(provider="vertex", model="claude-opus-4-5@20251101").name == "xml-items"
    assert registry.resolve(provider="openai", model="some-fine-tune").name == "openai-json"


def test_an_unknown_model_alone_is_an_error_that_says_what_was_tried(registry: Registry) -> None:
    with pytest.raises(UnknownDialectError) as caught:
        registry.resolve(model="what-7b")
    assert re.fullmatch(
        r"unknown model 'what-7b'; tried as 'what-7b' against \d+ patterns; give a provider or a dialect",
        str(caught.value),
    )
    with pytest.raises(
        UnknownDialectError, match="tried as 'openrouter/acme/what-7b:free' and 'acme/what-7b:free' and"
    ):
        registry.resolve(model="OpenRouter/Acme/What_7B:free")


def test_a_pattern_whose_dialect_is_missing_breaks_only_what_it_matches(registry: Registry) -> None:
    wider = replace(registry, models=((r"gpt-oss", "harmony"), *API_MODELS))
    assert wider.resolve(model="gpt-4o").name == "openai-json"
    with pytest.raises(UnknownDialectError, match="unknown dialect 'harmony'"):
        wider.resolve(model="openai/gpt-oss-120b")


# Overrides


def test_an_override_writes_one_tool_and_no_other(registry: Registry) -> None:
    def schema(_: ToolDefinition) -> str:
        return "by hand"

    def example(_: ToolDefinition) -> tuple[Example, ...]:
        return ()

    pair = (schema, example)
    changed = registry.with_override("qwen25", "write_file", pair)
    own = (registry.dialect("hermes").schema, registry.dialect("hermes").example)
    assert changed.override("HERMES", "write_file") is pair
    assert changed.override("hermes", "read_file") is None
    assert changed.override("xml-items", "write_file") is None
    with pytest.raises(TypeError, match="must be a str"):
        changed.override("hermes", {})  # pyright: ignore[reportArgumentType]
    assert registry.override("hermes", "write_file") is None
    assert changed.formatter_pair(dialect="hermes", tool="write_file") is pair
    assert changed.formatter_pair(dialect="hermes", tool="read_file") == own
    assert changed.formatter_pair(dialect="hermes") == own
    assert changed.with_override("hermes", "write_file", own).override("hermes", "write_file") == own
    with pytest.raises(UnknownDialectError):
        registry.with_override("nothing", "write_file", pair)


# The process's registry


@pytest.fixture
def fresh_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_default", registry_module._Default())


@pytest.mark.usefixtures("fresh_default")
def test_the_default_registry_is_made_once_and_replaced_by_what_is_registered() -> None:
    before = registry_module.default_registry()
    assert registry_module.default_registry() is before
    after = registry_module.register(make_dialect("made-for-this-test"))
    assert registry_module.default_registry() is after
    assert "made-for-this-test" in after
    assert "made-for-this-test" not in before
    with pytest.raises(DuplicateDialectError):
        registry_module.register(make_dialect("made-for-this-test"))
    assert registry_module.default_registry() is after


@pytest.mark.usefixtures("fresh_default")
def test_register_override_reaches_the_default_registry() -> None:
    dialect = make_dialect("made-for-this-test")
    registry_module.register(dialect)
    pair = (dialect.schema, dialect.example)
    registry_module.register_override("made_for_this_test", "write_file", pair)
    assert registry_module.default_registry().override("made-for-this-test", "write_file") is pair


@pytest.mark.usefixtures("fresh_default")
def test_nothing_is_lost_when_many_threads_register_at_once() -> None:
    names = [f"thread-{number}" for number in range(64)]
    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda name: registry_module.register(make_dialect(name)), names))
    assert set(names) <= set(registry_module.default_registry().names())


# Third parties

GOOD = """
import toolfmt.dialect.record as d
def nothing(*_): return ""
DIALECT = d.Dialect(
    name={name!r}, summary="", schema=nothing, example=nothing, calls=nothing, results=nothing,
    open_parser=nothing, traits=d.Traits(), sources=(), aliases={aliases!r},
)
"""


def install(folder: Path, **modules: str) -> None:
    """Install a distribution with one entry point for each module, whose name is the module's."""
    info = folder / f"{next(iter(modules))}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {next(iter(modules))}\nVersion: 1.0\n")
    points = "".join(f"{name} = toolfmt_test_{name}:DIALECT\n" for name in modules)
    (info / "entry_points.txt").write_text(f"[toolfmt.dialects]\n{points}")
    for name, source in modules.items():
        (folder / f"toolfmt_test_{name}.py").write_text(source)


@pytest.mark.usefixtures("fresh_default")
def test_third_parties_dialects_are_found_and_a_broken_one_breaks_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path,
        acme=GOOD.format(name="acme", aliases=("acme_wire",)),
        acme2=GOOD.format(name="acme2", aliases=("acme-wire",)),
        crashing="raise ZeroDivisionError('on import')",
        impatient="import toolfmt.lookup.registry as r\nr.default_registry()",
        nothing="",
        text="DIALECT = 'a string'",
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = registry_module.default_registry()

    assert found.dialect("Acme-Wire").name == "acme"
    assert set(found.broken) == {"acme2", "crashing", "impatient", "nothing", "text"}
    reasons: dict[str, tuple[type[ToolFmtError], str]] = {
        "acme2": (DuplicateDialectError, "a dialect named 'acme-wire' is already registered"),
        "crashing": (BrokenDialectError, "'toolfmt_test_crashing:DIALECT': ZeroDivisionError: on import"),
        "impatient": (BrokenDialectError, "while it imports the dialects"),
        "nothing": (BrokenDialectError, "AttributeError"),
        "text": (BrokenDialectError, "it is a str, not a toolfmt.Dialect"),
    }
    for name, (kind, message) in reasons.items():
        for _ in range(2):
            with pytest.raises(kind, match=re.escape(message)):
                found.dialect(name)
    assert {name for name in found.names() if name.startswith("acme")} == {"acme"}


@pytest.mark.usefixtures("fresh_default")
def test_a_dialect_in_a_zip_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    install(packed, zipped=GOOD.format(name="zipped", aliases=()))
    monkeypatch.syspath_prepend(make_archive(str(tmp_path / "one"), "zip", packed))
    assert registry_module.default_registry().dialect("zipped").name == "zipped"


def test_a_package_gives_the_dialects_of_its_public_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolfmt.lookup.plugins import package_dialects

    package = tmp_path / "toolfmt_test_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "b_one.py").write_text(GOOD.format(name="one", aliases=()))
    (package / "a_family.py").write_text(
        GOOD.format(name="two", aliases=())
        + "import dataclasses\nDIALECTS = (DIALECT, dataclasses.replace(DIALECT, name='three'))\n"
    )
    (package / "_shared.py").write_text("raise AssertionError('private modules are not dialects')")
    monkeypatch.syspath_prepend(tmp_path)
    found: list[Dialect[Any]] = list(package_dialects("toolfmt_test_package"))
    assert [dialect.name for dialect in found] == ["two", "three", "one"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("dialects", "hermes", "dialects= must be a list, not 'hermes'"),
        ("dialects", None, "dialects= must be a list, not None"),
        ("dialects", ("hermes",), r"dialects\[0\] must be a Dialect, not 'hermes'"),
        ("providers", (3,), r"providers\[0\] must be a Provider, not 3"),
        ("models", "gpt", "models= must be a list, not 'gpt'"),
        ("overrides", [], "overrides= must be a dict, not list"),
    ],
)
def test_what_a_registry_is_made_of_is_checked(field: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Registry(**{field: value})
