"""Policies that generate ids for calls without one. No id is generated without a policy.

    assign(calls, hashed())                   # the same call, the same id, in every run
    assign(calls, session())                  # the same, and unique within one conversation
    assign(calls, pattern(MISTRAL, random.Random(7)))

A policy is any function from a call to its id, or to None for no id. Make those with state (`session`, `counter`,
`pattern`) once per conversation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from inspect import signature
from itertools import count
from random import Random, SystemRandom
from typing import Any, Final, Protocol
from uuid import UUID

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.model import ToolInvocation

OPENAI: Final = "call_{random:24}"
"""The shape of OpenAI's ids, also used by many compatible servers."""
ANTHROPIC: Final = "toolu_{random:24}"
"""The shape of Anthropic's ids."""
MISTRAL: Final = "{random:9}"
"""The shape of Mistral's ids; its API accepts no other length."""
KIMI: Final = "functions.{name}:{number}"
"""Kimi K2 counts a conversation's calls from 0, whatever their names."""

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SLOT = re.compile(r"\{(?:(?P<slot>name|number)|random:(?P<length>[1-9][0-9]?))\}")


class IdPolicy(Protocol):
    """Gives a call its id, or None for no id."""

    def __call__(self, call: ToolInvocation, /) -> str | None:
        """Return the id; called once for each call of a conversation, in order."""
        ...


def none() -> IdPolicy:
    """Generate no ids."""
    return lambda _: None


def hashed() -> IdPolicy:
    """`call_` and the SHA-256 of the name and the arguments: equal calls have equal ids.

    The order of keys is ignored; 1 and 1.0 differ.
    """
    return _hash


def session() -> IdPolicy:
    """Like `hashed`, with the suffix `_0`, `_1`, … for repetitions of the same call."""
    seen: Counter[str] = Counter()

    def mint(call: ToolInvocation) -> str:
        base = _hash(call)
        seen[base] += 1
        return f"{base}_{seen[base] - 1}"

    return mint


def counter(prefix: str = "call_", start: int = 0) -> IdPolicy:
    """`call_0`, `call_1`, … in the order of the calls."""
    numbers = count(start)
    return lambda _: f"{prefix}{next(numbers)}"


def uuid4(source: Random | None = None) -> IdPolicy:
    """A random UUID for each call, from the system's randomness or from `source`."""
    source = source or SystemRandom()
    return lambda _: str(UUID(int=source.getrandbits(128), version=4))


def pattern(template: str, source: Random | None = None, *, start: int = 0) -> IdPolicy:
    """Ids of a provider's shape: `OPENAI`, `ANTHROPIC`, `MISTRAL`, `KIMI` or a template of your own.

    `{random:N}` is N letters and digits, from the system's randomness or from `source`. `{name}` is the call's name.
    `{number}` counts up from `start`, the number of calls that the conversation already has. Raises ValueError for any
    other brace, or for a template without a slot that varies.
    """
    if "{" in _SLOT.sub("", template) or "}" in _SLOT.sub("", template):
        raise ValueError(f"{template!r}: the slots are {{random:N}}, {{name}} and {{number}}")
    if not re.search(r"\{(?:number|random)", template):
        raise ValueError(f"{template!r} gives every call the same id: use {{random:N}} or {{number}}")
    source = source or SystemRandom()
    numbers = count(start)

    def mint(call: ToolInvocation) -> str:
        values = {"name": call.name, "number": str(next(numbers))}

        def fill(slot: re.Match[str]) -> str:
            length = slot["length"]
            return "".join(source.choices(_ALPHABET, k=int(length))) if length else values[slot["slot"]]

        return _SLOT.sub(fill, template)

    return mint


def made(policy: IdPolicy, call: ToolInvocation) -> str | None:
    """Return the id that a policy gives a call; raises TypeError for anything but text and None."""
    try:
        found: Any = policy(call)
    except TypeError:
        _check_takes(policy, call)
        raise
    if found is None or isinstance(found, str):
        return found
    kind = "a function: call it first, as in ids=counter()" if callable(found) else type(found).__name__
    raise TypeError(f"a policy of ids returns text or None, and this one returned {kind}")


def _check_takes(policy: IdPolicy, call: ToolInvocation) -> None:
    """Raise TypeError for a function that does not take one call."""
    try:
        signature(policy).bind(call)
    except TypeError as error:
        raise TypeError(f"a policy of ids is called with (call): {error}") from None
    except ValueError:
        return  # written in C, without a signature


@checked
def assign(calls: Iterable[ToolInvocation], policy: IdPolicy) -> tuple[ToolInvocation, ...]:
    """Give each call without an id the one from the policy; other calls stay unchanged."""
    given = ((call, made(policy, call) if call.id is None else None) for call in calls)
    return tuple(call if found is None else call.model_copy(update={"id": found}) for call, found in given)


def _hash(call: ToolInvocation) -> str:
    text = f"{call.name}:{jsontext.canonical(call.arguments)}"
    return "call_" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()  # a name may be half a pair
