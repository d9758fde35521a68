"""Finds the dialect of a model from its folder.

    find_dialect("Qwen3-8B").dialect.name    # 'qwen25'
    find_dialect("Qwen3-8B").how             # 'known'
    find_dialect("Qwen3-8B").reasons         # ('it reads all 5 answers that the template was made to write', ...)

The checkpoint's own response template comes first. Otherwise the chat template renders calls: a known dialect that
reads them is the result, and if none does, a new one is inferred from the differences between the rendered calls. A
template that writes no calls may still identify a known dialect by its markers. Nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

from toolfmt.arguments import checked
from toolfmt.dialect.record import Dialect
from toolfmt.errors import ResponseTemplateError, TemplateError, UnknownDialectError
from toolfmt.lookup.registry import Registry, default_registry
from toolfmt.workshop.chat_templates.answers import Answers, answers
from toolfmt.workshop.chat_templates.folder import TokenizerFolder, read_folder
from toolfmt.workshop.chat_templates.inferring import NotInferredError, infer
from toolfmt.workshop.chat_templates.recognising import Fit, Marked, marked, recognised
from toolfmt.workshop.response_templates import response_dialect

How: TypeAlias = Literal["response_template", "known", "markers", "inferred"]
_Known = TypeVar("_Known", Fit, Marked)

_ENDS: Final = ("eos_token", "eot_token", "eom_token")
_GENERIC: Final = frozenset({"chat_template", "tokenizer_config", "processor_config", "default", "tool_use"})
"""Files that are called the same for every model."""
_ODD: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDialect:
    """A model's dialect, and how it was found."""

    dialect: Dialect[str]
    how: How
    """`response_template`: the checkpoint has one. `known`: it reads what the chat template writes. `markers`: the
    template has its markers, but writes no calls. `inferred`: a new dialect, made from what the template writes."""
    reasons: tuple[str, ...]
    """Why it was chosen, and what was tried before, in words."""
    others: tuple[str, ...] = ()
    """Known dialects that read the same calls, the likeliest first."""


@checked
def find_dialect(path: str | Path, *, template: str | None = None, registry: Registry | None = None) -> FoundDialect:
    """Find the dialect of a model from its folder, or from a file with its chat template.

    `path` is a Hugging Face tokenizer folder, or one file of it: `tokenizer_config.json`,
    `chat_template.jinja`, `chat_template.json`. `template` names one of several templates; the default is the one for
    tools. `registry` has the known dialects; the default is the process-wide one. Templates run in a sandbox, with
    limits. Raises OSError if nothing can be read, `ParseError` for a malformed file, `TemplateError` if there is no
    chat template or one of another library, and `UnknownDialectError`, with all reasons, if no dialect is found.
    """
    known = default_registry() if registry is None else registry
    if str(path) in known and not Path(path).exists():
        raise FileNotFoundError(
            f"there is no file or folder {str(path)!r}; it is the name of a dialect: give dialect={str(path)!r}, or "
            f"take its record with default_registry().dialect({str(path)!r})"
        )
    return found_in(read_folder(path), template=template, registry=registry)


def found_in(folder: TokenizerFolder, *, template: str | None = None, registry: Registry | None = None) -> FoundDialect:
    """Find the dialect of a folder that was read."""
    reasons: list[str] = []
    own = _own(folder, reasons)
    if own is not None:
        return FoundDialect(dialect=own, how="response_template", reasons=tuple(reasons))
    source = folder.template(template, tools=True)
    known = [*(default_registry() if registry is None else registry)]
    try:
        written = answers(source, folder.tokens)
    except TemplateError as error:
        reasons.append(f"the chat template does not render: {error}")
        return _by_markers(folder, marked(source, known), reasons)
    if written.one is None:
        reasons.append("the chat template writes no calls" + (f": {written.problem}" if written.problem else ""))
        return _by_markers(folder, marked(source, known), reasons)
    fits = recognised(source, written, known)
    if fits:
        return _by_reading(folder, fits, written, reasons)
    reasons.append("no known dialect reads the calls that the chat template writes")
    try:
        made = infer(written, name=_name(folder), stop=_stops(folder))
    except NotInferredError as error:
        reasons.append(f"and no dialect can be inferred from them: {error}")
        raise _unknown(folder, reasons) from None
    reasons.append(f"inferred from {len(written.with_calls())} answers that were rendered, all of which it reads")
    return FoundDialect(dialect=made, how="inferred", reasons=tuple(reasons))


def _own(folder: TokenizerFolder, reasons: list[str]) -> Dialect[str] | None:
    """Make the dialect of the checkpoint's own response template, if it has a valid one."""
    if folder.response_schema is not None:
        reasons.append("its response_schema is of an older kind, which transformers has given up: it is not read")
    if folder.response_template is None:
        return None
    try:
        made = response_dialect(folder.response_template, name=_name(folder), stop=_stops(folder))
    except ResponseTemplateError as error:
        reasons.append(f"its response template is not used: {error}")
        return None
    reasons.append("the checkpoint ships a response template")
    return made


def _by_reading(folder: TokenizerFolder, fits: list[Fit], written: Answers, reasons: list[str]) -> FoundDialect:
    chosen = _preferred(folder, [fit for fit in fits if fit.rank == fits[0].rank])
    of = len(written.with_calls())
    reasons.append(f"it reads {chosen.read} of {of} answers that the chat template was made to write")
    if chosen.exact:
        reasons.append(f"and writes {chosen.exact} of them just so")
    return _found(chosen, fits, "known", reasons)


def _by_markers(folder: TokenizerFolder, found: list[Marked], reasons: list[str]) -> FoundDialect:
    if not found:
        reasons.append("and has no known dialect's markers")
        raise _unknown(folder, reasons)
    best = [one for one in found if one.weight == found[0].weight]
    forms = [one.dialect.syntax.forms[0] for one in best if one.dialect.syntax is not None]
    if any(form != forms[0] for form in forms):
        names = ", ".join(one.dialect.name for one in best)
        reasons.append(f"its markers may be those of {names}: choose one")
        raise _unknown(folder, reasons)
    chosen = _preferred(folder, best)
    reasons.append(f"it has the markers of {chosen.dialect.name}: {' '.join(chosen.markers)}")
    return _found(chosen, found, "markers", reasons)


def _found(chosen: Fit | Marked, among: Sequence[Fit | Marked], how: How, reasons: list[str]) -> FoundDialect:
    others = tuple(one.dialect.name for one in among if one is not chosen)
    return FoundDialect(dialect=chosen.dialect, how=how, reasons=tuple(reasons), others=others)


def _unknown(folder: TokenizerFolder, reasons: list[str]) -> UnknownDialectError:
    return UnknownDialectError("format of the model at", folder.path, advice="; ".join(reasons))


def _stops(folder: TokenizerFolder) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder.tokens[name] for name in _ENDS if folder.tokens.get(name)))


def _name(folder: TokenizerFolder) -> str:
    return next((_ODD.sub("-", name.lower()).strip("-") for name in _model_names(folder)), "") or "chat-template"


def _preferred(folder: TokenizerFolder, best: list[_Known]) -> _Known:
    """Choose among equals: a dialect of models with this name, else the first."""
    named: set[str] = set()
    for name in _model_names(folder):
        with suppress(UnknownDialectError):
            named.add(default_registry().resolve(model=name).name)
    return next((one for one in best if one.dialect.name in named), best[0])


def _model_names(folder: TokenizerFolder) -> Iterator[str]:
    path = Path(folder.path)
    own = path.stem if path.is_file() and path.stem not in _GENERIC else ""
    place = path.parent.name if path.is_file() else path.name
    yield from (name for name in (folder.name.rpartition("/")[2], own, place, folder.model_type) if name)
