"""Write calls and results in a dialect.

    render_calls([ToolInvocation(name="f", arguments={"a": 1})], dialect="tool-json")

A parser of the same dialect reads the text back. Calls and results may also be dicts of their fields:
`{"name": "f", "arguments": {"a": 1}}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar, Unpack, cast

from pydantic import BaseModel, ValidationError

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.errors import RenderError
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.tools import tools as definitions

RecordT = TypeVar("RecordT", bound=BaseModel)


@checked(calls="an API's calls are read first: toolfmt.read_answer(answer).calls")
def render_calls(
    calls: Iterable[ToolInvocation | Mapping[str, Any]], *, tools: object = None, **choice: Unpack[Choice]
) -> str:
    """Write calls as the model would have written them.

    `tools` give the types where the wire does not. Arguments that the format cannot
    hold raise `UnrepresentableError`; an id, server or agent for which it has no
    place is left out, as its traits say (`carries_ids`, ...).
    """
    dialect, _ = chosen(choice)
    offered = {} if tools is None else {tool.name: tool for tool in definitions(tools)}
    return dialect.calls(records(calls, "calls", ToolInvocation), offered)


@checked
def render_results(
    results: Iterable[ToolResult | Mapping[str, Any]], *, tools: object = None, **choice: Unpack[Choice]
) -> str:
    """Write results as the model is shown them, in call order; markers inside them are made harmless.

    With `tools`, so are tags of an offered tool's own name, which some formats read as calls.
    Media, which text cannot show, become a note of what they are.
    """
    dialect, _ = chosen(choice)
    given = records(results, "results", ToolResult)
    for at, one in enumerate(given):
        if jsontext.too_deep(one.content):
            raise RenderError(f"results[{at}].content: it is nested more than {jsontext.MAX_NESTING} levels deep")
    return dialect.results(
        [noted(one) for one in given], () if tools is None else [tool.name for tool in definitions(tools)]
    )


def noted(result: ToolResult) -> ToolResult:
    """Add a note for each of a result's media to its content, for formats that only show the content."""
    content = result.content
    shown = content if isinstance(content, str) else ""
    notes = [one.note for one in result.media if one.note not in shown]
    if not notes:
        return result
    if content is None or isinstance(content, str):
        return result.model_copy(update={"content": "\n".join(filter(None, (content, *notes)))})
    return result.model_copy(update={"content": [content, *notes]})


def records(values: object, what: str, kind: type[RecordT]) -> list[RecordT]:
    """Make records of dicts; raises TypeError for other values and `RenderError` for a wrong field, with the place."""
    if isinstance(values, (BaseModel, Mapping)):
        advice = _elsewhere(cast("Mapping[str, Any]", values), kind) if isinstance(values, Mapping) else ""
        raise TypeError(f"{what} are given in a list, not one alone: put brackets around it{advice}")
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        advice = f": give its .{what}" if hasattr(values, what) else _READ_FIRST if kind is ToolInvocation else ""
        raise TypeError(
            f"{what} are a list of {kind.__name__}, or of dicts with its fields, not {type(values).__name__}{advice}"
        )
    given = enumerate(cast("Iterable[object]", values))
    return [one if isinstance(one, kind) else _record(one, f"{what}[{at}]", kind) for at, one in given]


def _record(value: object, where: str, kind: type[RecordT]) -> RecordT:
    if not isinstance(value, Mapping):
        raise TypeError(f"{where} is a {kind.__name__} or a dict with its fields, not {type(value).__name__}")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f".{part}" for part in first["loc"])
        problem = _SAID.get(first["type"], "{msg}").format(
            msg=first["msg"],
            given=type(first["input"]).__name__,
            read=": read it with json.loads first" if isinstance(first["input"], str) else "",
        )
        fields = f"; the fields are {', '.join(kind.model_fields)}" if first["type"] in _OF_FIELDS else ""
        advice = _elsewhere(cast("Mapping[str, Any]", value), kind)
        raise RenderError(f"{where}{field}: {problem}{fields}{advice}") from None


_SAID: Final = {
    "missing": "the field is missing",
    "extra_forbidden": "there is no such field",
    "dict_type": "expected a JSON object, not {given}{read}",
    "string_type": "expected text, not {given}",
    "bool_type": "expected true or false, not {given}",
}
"""The message about a field, by the type of pydantic's error."""
_READ_FIRST: Final = "; an API's own calls are read first: toolfmt.read_answer(answer).calls"
_OF_FIELDS: Final = ("missing", "extra_forbidden")


def _elsewhere(value: Mapping[str, Any], kind: type[BaseModel]) -> str:
    """Return advice if this seems to be an API's call or answer."""
    api = kind is ToolInvocation and value.keys() - kind.model_fields.keys()
    return _READ_FIRST if api else ""
