"""Grammars for constrained decoding: exactly the calls that a dialect's parser reads, with the tools' schemas inside.

    grammar("hermes", tools, target="lark")                     for llguidance
    grammar("qwen3-coder", tools, choice="required", target="gbnf")     for llama.cpp
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from toolfmt.errors import UnknownToolError
from toolfmt.grammars.answers import answer
from toolfmt.grammars.lark import lark
from toolfmt.registry import default_registry
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.dialect import AnyDialect
    from toolfmt.grammars.answers import Answer
    from toolfmt.registry import Registry

Target: TypeAlias = Literal["lark"]

WRITERS: Final[dict[str, Callable[[Answer], str]]] = {"lark": lark}


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar's text, and where it says less or more than the schemas and the parser do; `str()` is the text."""

    text: str
    target: str
    relaxed: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Give the text."""
        return self.text


def grammar(dialect: AnyDialect | str, tools: object, *, choice: str = "auto", parallel: bool = True, target: str = "lark", registry: Registry | None = None) -> Grammar:
    """Write a grammar."""
    chosen = (registry or default_registry()).dialect(dialect)
    offered = definitions(tools)
    if choice in ("auto", "required", "none"):
        held = answer(chosen, offered, choice=choice, parallel=parallel, offered=[tool.name for tool in offered])
    else:
        named = [tool for tool in offered if tool.name == choice]
        if not named:
            raise UnknownToolError(choice, [tool.name for tool in offered])
        held = answer(chosen, named, choice="required", parallel=parallel, offered=[tool.name for tool in offered])
    return Grammar(WRITERS[target](held), target, held.relaxed, held.narrowed)
