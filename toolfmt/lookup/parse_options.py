"""The options of `parse` and its siblings, checked once for each combination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Unpack

from toolfmt.arguments import checked
from toolfmt.dialect.record import AnyDialect, Limits, ParserOptions
from toolfmt.lookup.choice import Choice, chosen, chosen_registry, nothing_chosen
from toolfmt.lookup.registry import Registry, built_registry, is_auto
from toolfmt.model import ToolDefinition, ToolInvocation


class ReadingOptions(Choice, total=False):
    """How text is read.

    `Choice` explains the options that choose a format; `dialect="auto"`, or no choice, detects it in the text. `strict`
    rejects text beside the call, extra arguments and unknown tools. `repair` repairs broken JSON, with a notice.
    `reasoning_open` says that the answer begins inside reasoning; `generation_prompt` derives this from the end of the
    prompt. `infer_types` guesses the type of text such as `42`, `true` and `null` if neither the format nor a schema
    gives it; text in a quote such as CDATA stays text. `coerce` converts arguments to the types of the tool's schema,
    such as `"5"` to 5, with a notice for each; the arguments of a call are then streamed only at its end.
    """

    strict: bool
    repair: bool
    reasoning_open: bool
    generation_prompt: str | None
    infer_types: bool
    coerce: bool
    limits: Limits | None


class ParseOptions(ReadingOptions, total=False):
    """Options of `parse` and its siblings: those of `ReadingOptions`, and what is checked of the calls.

    `tools` are the offered tools: definitions, functions or any tool JSON. `validate` checks the arguments.
    `drop_leaks` removes text that merely echoes a call (`parse` only, as it needs the whole answer). `ids` is a policy
    that gives ids to calls without one.
    """

    tools: object
    validate: bool
    drop_leaks: bool
    ids: Callable[[ToolInvocation], str | None] | None


@dataclass(slots=True, kw_only=True)
class ParseSettings:
    """Options but for the tools, checked."""

    registry: Registry
    dialect: AnyDialect | None
    """None if the text tells it."""
    reading: ParserOptions
    prompt: str
    validate: bool
    ids: Callable[[ToolInvocation], str | None] | None
    checked: bool
    """More is asked of calls than that they are valid calls of offered tools."""

    def of(self, dialect: AnyDialect, tools: Mapping[str, ToolDefinition], *, whole: bool) -> ParserOptions:
        """The options of a dialect's parser."""
        given, opener, syntax = self.reading, "", dialect.syntax
        if self.prompt and syntax is not None:
            from toolfmt.parsers.compiled.leading import reasoning_opener

            opener = reasoning_opener(syntax, self.prompt)
        return ParserOptions(  # `replace` would take three times as long
            tools=tools,
            strict=given.strict or dialect.traits.strict,
            repair=given.repair,
            reasoning_open=given.reasoning_open or bool(opener),
            reasoning_opener=opener,
            infer_types=given.infer_types,
            coerce=given.coerce,
            whole=whole,
            limits=given.limits,
        )


def parse_settings(options: ParseOptions) -> ParseSettings:
    """Check the options; those that were given before are not checked again."""
    if options.get("registry") is None and not options.get("generation_prompt"):
        rest = options.copy()
        rest.pop("tools", None)
        try:
            return _kept_settings(built_registry(), **rest)
        except TypeError:  # an option that is no key, or a mistake: it is reported in its place
            pass
    return _read_settings(**options)


@lru_cache(maxsize=256, typed=True)  # 1 is no True
def _kept_settings(_: Registry | None, /, **options: Unpack[ParseOptions]) -> ParseSettings:
    return _read_settings(**options)


@checked
def _read_settings(**options: Unpack[ParseOptions]) -> ParseSettings:
    name, prompt = options.get("dialect"), options.get("generation_prompt") or ""
    if nothing_chosen(options) if name is None else is_auto(name):
        if options.get("use_xml", False):
            raise ValueError("use_xml=True forces a format, and dialect='auto' finds it: leave one of the two out")
        dialect, registry = None, chosen_registry(options)
        if provider := options.get("provider"):
            registry.provider(provider)
    else:
        dialect, registry = chosen(options)
    reading = ParserOptions(
        strict=options.get("strict", False),
        repair=options.get("repair", False),
        reasoning_open=options.get("reasoning_open", False),
        infer_types=options.get("infer_types", False),
        coerce=options.get("coerce", False),
        limits=options.get("limits") or Limits(),
    )
    return ParseSettings(
        registry=registry,
        dialect=dialect,
        reading=reading,
        prompt=prompt,
        validate=options.get("validate", False),
        ids=options.get("ids"),
        checked=options.get("ids") is not None or reading.coerce,
    )
