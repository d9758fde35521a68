"""The requested amount of reasoning: an effort, a token budget, or a switch; one replaces another if necessary.

    {"reasoning_effort": "high"}                                    Chat Completions: an effort
    {"thinking": {"type": "enabled", "budget_tokens": 24576}}       Anthropic: a switch and a budget
    {"thinkingConfig": {"thinkingBudget": 24576}}                   Gemini: a budget, or a level
    {"think": "high"}                                               Ollama: a switch or an effort

Common names: `effort` (a word of `EFFORTS`), `budget` (tokens), `thinks` (a flag), `thoughts` (whether they are shown).
"""

from __future__ import annotations

from typing import Any, Final

from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import at, put
from toolfmt.transcripts.settings.record import Group, Setting, Table, Values

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The words for an effort, least first."""

BUDGETS: Final = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 65536}
"""The token budget of each effort: Gemini API, OpenAI compatibility, "Thinking"; the last two are extrapolated."""

NAMES: Final = ("effort", "budget", "thinks", "thoughts")
SWITCH: Final[dict[Any, JsonValue]] = {True: "enabled", False: "disabled"}
"""The words of a switch."""
LEAST: Final = 1024
"""anthropic 2.12, types/thinking_config_enabled_param.py: a budget is at least this, and less than `max_tokens`."""


def suited(values: Values, table: Table) -> JsonObject:
    """Express the amount of reasoning in an API's terms; other settings stay."""
    chosen = dict(values)
    effort, budget = chosen.get("effort"), chosen.get("budget")
    thinks = on(chosen)
    if thinks is None:
        return chosen
    if not thinks:
        return {**_without(chosen), **_off(table)}
    words = _efforts(table)
    made: JsonObject = {}
    if isinstance(effort, str) and words:
        made["effort"] = _nearest(effort, words)
    elif isinstance(effort, str) and "budget" in table.names:
        made["budget"] = _share(BUDGETS.get(effort, BUDGETS["medium"]), chosen.get("max_tokens"))
    if isinstance(budget, int) and "budget" in table.names:
        made["budget"] = budget
    elif isinstance(budget, int) and "effort" not in made and words and budget > 0:
        enough = next((word for word in EFFORTS[2:] if budget <= BUDGETS[word]), EFFORTS[-1])
        made["effort"] = _nearest(enough, words)
    if "thinks" in table.names:
        made["thinks"] = True
    return {**_without(chosen), **made}


def _without(values: JsonObject) -> JsonObject:
    return {key: value for key, value in values.items() if key not in ("effort", "budget", "thinks")}


def _off(table: Table) -> JsonObject:
    """Turn reasoning off, or as low as possible."""
    words = _efforts(table)
    always = next((group for group in table.groups if group.always), None)
    if always is not None and always.budget is not None:
        return {"budget": always.budget[0]}
    if always is None and "thinks" in table.names:
        return {"thinks": False}
    if words and "none" in words:
        return {"effort": "none"}
    return {"effort": words[0]} if words else {}


def _efforts(table: Table) -> tuple[str, ...]:
    """List an API's words for efforts, the least first."""
    if "effort" not in table.names:
        return ()
    place = table.one("effort")
    words = place.words if place is not None else _THINK
    return tuple(word for word in EFFORTS if word in words)


def _nearest(effort: str, words: tuple[str, ...]) -> str:
    """Return the nearest word, or the greater of two."""
    if effort in words or effort not in EFFORTS:
        return effort
    rank = EFFORTS.index(effort)
    real = [word for word in words if word != "none"]
    return min(real, key=lambda word: (abs(EFFORTS.index(word) - rank), -EFFORTS.index(word)))


def on(values: Values) -> bool | None:
    """Whether reasoning is requested; None if unstated."""
    if values.get("thinks") is False or values.get("effort") == "none" or values.get("budget") == 0:
        return False
    return True if any(values.get(name) for name in NAMES[:3]) else None


def _read_switch(found: JsonValue, on: tuple[str, ...]) -> JsonObject:
    kind = found.get("type") if is_object(found) else None
    return {"thinks": True} if kind in on else {"thinks": False} if kind == "disabled" else {}


def _read_thinking(found: JsonValue, key: str) -> JsonObject:
    made = _read_switch(found, ("enabled", "adaptive"))
    tokens = found.get(key) if is_object(found) else None
    return {**made, "budget": tokens} if made and isinstance(tokens, int) else made


def _share(budget: int, limit: JsonValue) -> int:
    """Limit a budget to half of the answer's limit, and to at least `LEAST`."""
    return max(min(budget, limit // 2), LEAST) if isinstance(limit, int) else budget


def _room(values: Values) -> int | None:
    """Return the budget that fits within the answer's limit, or None."""
    budget, limit = max(values["budget"], LEAST), values.get("max_tokens")
    if not isinstance(limit, int) or budget < limit:
        return budget
    return _share(budget, limit) if limit > LEAST else None


def cramped(values: Values, table: Table) -> str:
    """Explain that the answer's limit leaves no room for reasoning, or return ""."""
    limit = values.get("max_tokens")
    if "budget" not in table.names or not on(values) or not isinstance(limit, int) or limit > LEAST:
        return ""
    return f"max_tokens {limit} leaves no room for a budget, which is {LEAST} at least"


_DISPLAYS: Final = {"auto": "summarized", "concise": "summarized", "detailed": "summarized", "none": "omitted"}


OLDER: Final = r"claude-(?:[0-3](?:\D|$)|(?:opus|sonnet|haiku)-4-(?:[0-5](?:\D|$)|20\d{6}))"
"""Claude up to 4.5: supports a budget, and neither `adaptive` nor an effort."""
NEWER: Final = r"claude-(?:opus-4-[7-9]|opus-[5-9]|fable|mythos)"
"""Claude from Opus 4.7 on: refuses a budget. Both: Amazon Bedrock User Guide, "Adaptive thinking"."""


def _fit_sampling(fields: JsonObject, inside: str) -> None:
    """Remove settings that are not allowed with thinking.

    Anthropic API, "Extended thinking": temperature and top_k stay as they are, and top_p is at least 0.95;
    dotCipher/opencode-claude-bridge#1 has the refusal for adaptive thinking.
    """
    holder = fields.get(inside) if inside else fields
    if not is_object(holder):
        return
    for key in ("temperature", "top_k"):
        holder.pop(key, None)
    for key in ("top_p", "topP"):
        if isinstance(holder.get(key), (int, float)):
            holder[key] = max(holder[key], 0.95)


def _anthropic(place: str, inside: str, *, adaptive: bool, budget: bool = True, models: str = "") -> Group:
    """Describe Anthropic's `thinking`, which Bedrock forwards to the same models.

    `inside` is the place of sampling settings; `adaptive`: an effort needs the switch beside it.
    """

    def read(fields: JsonObject) -> JsonObject:
        found = at(fields, place)
        made = _read_thinking(found, "budget_tokens")
        shown = found.get("display") if is_object(found) else None
        if shown in ("summarized", "omitted"):
            made["thoughts"] = "auto" if shown == "summarized" else "none"
        return made

    def write(values: Values, fields: JsonObject) -> None:
        made: JsonObject
        if values.get("thinks") is False:
            made = {"type": "disabled"}
        elif "budget" in values:
            tokens = _room(values)
            if tokens is None:
                return
            made = {"type": "enabled", "budget_tokens": tokens}
        elif values.get("thinks") and (adaptive or "effort" not in values):
            made = {"type": "adaptive"}
        else:
            return
        shown = _DISPLAYS.get(str(values.get("thoughts")))
        if shown is not None and made["type"] != "disabled":
            made["display"] = shown
        put(fields, place, made)
        if made["type"] != "disabled":
            _fit_sampling(fields, inside)

    names = ("thinks", "budget", "thoughts") if budget else ("thinks", "thoughts")
    keys = ("type", "budget_tokens", "display")
    return Group(names=names, at=(place,), keys=keys, read=read, write=write, models=models)


def _write_cohere(values: Values, fields: JsonObject) -> None:
    made: JsonObject = {"type": "disabled" if values.get("thinks") is False else "enabled"}
    if "budget" in values and made["type"] == "enabled":
        made["token_budget"] = values["budget"]
    fields["thinking"] = made


_CONFIG: Final = "generationConfig.thinkingConfig"


def _read_gemini(fields: JsonObject) -> JsonObject:
    """Read a budget (0 for no thinking, -1 for any), and whether thoughts are shown."""
    found = at(fields, _CONFIG)
    budget, shown = (found.get("thinkingBudget"), found.get("includeThoughts")) if is_object(found) else (None, None)
    made: JsonObject = {}
    if isinstance(budget, int):
        made = {"budget": budget} if budget > 0 else {"thinks": budget < 0}
    return {**made, "thoughts": "auto" if shown else "none"} if isinstance(shown, bool) else made


def _gemini(models: str, budget: tuple[int, int] | None = None, *, always: bool = False, levels: bool = False) -> Group:
    """Describe Gemini's `thinkingConfig`; models with `levels` have an effort instead of a budget."""
    low, high = budget or (0, None)

    def write(values: Values, fields: JsonObject) -> None:
        tokens = None
        if values.get("thinks") is False:
            tokens = 0
        elif "budget" in values:
            tokens = max(values["budget"], low)
            tokens = tokens if high is None else min(tokens, high)
        elif values.get("thinks") and "effort" not in values:
            tokens = -1
        if tokens is not None and not levels:
            put(fields, f"{_CONFIG}.thinkingBudget", tokens)
        if "thoughts" in values:
            put(fields, f"{_CONFIG}.includeThoughts", values["thoughts"] != "none")

    return Group(
        names=("thoughts",) if levels else ("thinks", "budget", "thoughts"),
        at=(f"{_CONFIG}.thinkingBudget", f"{_CONFIG}.includeThoughts"),
        read=_read_gemini,
        write=write,
        models=models,
        budget=budget,
        always=always,
    )


_THINK: Final = ("low", "medium", "high")
"""Ollama's words for an effort."""


def _read_ollama(fields: JsonObject) -> JsonObject:
    found = fields.get("think")
    return {"effort": found} if found in EFFORTS else {"thinks": found} if isinstance(found, bool) else {}


def _write_ollama(values: Values, fields: JsonObject) -> None:
    if "effort" in values or "thinks" in values:
        fields["think"] = values.get("effort", values.get("thinks"))


_BEFORE: Final = rf"^(?!.*{NEWER})"
_FIELDS: Final = "additionalModelRequestFields.thinking"
ANTHROPIC: Final = (
    _anthropic("thinking", "", adaptive=True, models=_BEFORE),
    _anthropic("thinking", "", adaptive=True, budget=False, models=NEWER),
)
BEDROCK: Final = (
    _anthropic(_FIELDS, "inferenceConfig", adaptive=False, models=_BEFORE),
    _anthropic(_FIELDS, "inferenceConfig", adaptive=False, budget=False, models=NEWER),
)
COHERE: Final = Group(
    names=("thinks", "budget"),
    at=("thinking",),
    keys=("type", "token_budget"),
    read=lambda fields: _read_thinking(fields.get("thinking"), "token_budget"),
    write=_write_cohere,
)
GEMINI: Final = (
    _gemini(r"^(?!.*gemini-(?:2\.5|[3-9]))"),
    _gemini(r"gemini-2\.5-pro", (128, 32768), always=True),
    _gemini(r"gemini-2\.5-flash-lite", (512, 24576)),
    _gemini(r"gemini-2\.5-(?!pro|flash-lite)", (1, 24576)),
    _gemini("gemini-[3-9]", always=True, levels=True),
)
"""Ranges of budgets, and that models from Gemini 3 on have levels: Gemini API, "Thinking"."""
OLLAMA: Final = Group(names=("thinks", "effort"), at=("think",), read=_read_ollama, write=_write_ollama)


AFTER: Final = rf"^(?!.*{OLDER})"
"""The models that support an effort."""


def effort(place: str, words: tuple[str, ...] = EFFORTS, *, also: tuple[str, ...] = (), models: str = "") -> Setting:
    """Describe the setting of an effort."""
    return Setting("effort", place, "text", also, words={word: word for word in words}, models=models)
