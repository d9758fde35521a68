"""The format-neutral model: tools, invocations, results.

Frozen pydantic models that know no wire format. `arguments` is always a JSON object, never a string; `raw_arguments`
keeps the original text, for replay and prompt caches. `extra` holds provider-specific data, which is written only for
that provider.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, Final, Literal, Self, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, StrictStr, computed_field, field_validator, model_validator
from pydantic_core import PydanticCustomError, PydanticSerializationError

from toolfmt import jsontext
from toolfmt.errors import ParseError, Problem, SchemaError, UnrepresentableError, close_names, did_you_mean, not_utf8
from toolfmt.jsontext import JsonObject, JsonValue

CallProvenance: TypeAlias = Literal["api", "marker", "fenced", "bare"]
"""How a call was marked on the wire; execution may refuse the weak ones."""

Certainty: TypeAlias = Literal["exact", "tolerated", "guessed"]
"""How certain the reading of a call is.

`exact`: as the format writes it. `tolerated`: with a slip that has one reading, reported by a notice.
`guessed`: one of several readings was chosen, or repair invented a part of it.
"""


_DEEPEST: Final = 200
"""Levels of a record that pydantic reads from JSON."""


class Record(BaseModel):  # whose texts are strict, because pydantic would decode bytes
    """A frozen record whose JSON is strict in both directions."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @wraps(BaseModel.__init__)  # with its signature, and its mark that validation need not call it
    def __init__(self, /, *values: object, **fields: Any) -> None:
        made = type(self)
        if values:
            listed = ", ".join(f"{field.alias or name}=" for name, field in made.model_fields.items())
            raise TypeError(f"{made.__name__}() takes its fields by name: {listed}")
        known = made.model_fields
        for name in fields:
            if name not in known and name not in (names := [field.alias or one for one, field in known.items()]):
                hint = did_you_mean(close_names(name, {one: one for one in names})[:1])
                hint = hint or f"the fields are {', '.join(names)}"
                raise TypeError(f"{made.__name__}() has no field {name!r}; {hint}")
        self.__pydantic_validator__.validate_python(fields, self_instance=self)

    def model_dump_json(self, **options: Any) -> str:
        """Write the record as JSON; raises `UnrepresentableError` with the place of what JSON cannot hold."""
        if (wrong := jsontext.unwritable(written_fields(self))) is not None:
            raise wrong
        try:
            return super().model_dump_json(**options)
        except PydanticSerializationError:  # it writes fewer levels than a state has
            raise UnrepresentableError("JSON", "", "it is nested too deeply") from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Read the record from JSON; raises `ParseError`, and pydantic's ValidationError for fields that do not fit."""
        try:
            text = json_data if isinstance(json_data, str) else json_data.decode()
        except UnicodeDecodeError as error:
            raise ParseError(not_utf8(error)) from None
        jsontext.loads(text, max_depth=_DEEPEST)  # pydantic takes NaN, and the last of two equal keys
        return super().model_validate_json(text, **options)


def written_fields(record: Record) -> JsonObject:
    """Return the fields of a record, and of records in them, as they are before they are written."""
    made = type(record)
    fields = [name for name, field in made.model_fields.items() if not field.exclude]
    return {name: _written(getattr(record, name)) for name in (*fields, *made.model_computed_fields)}


def _written(value: object) -> JsonValue:
    match value:
        case Record():
            return written_fields(value)
        case tuple():
            return [_written(one) for one in cast("tuple[object, ...]", value)]
        case datetime():
            return value.isoformat()
        case Problem():
            return asdict(value)
        case _:
            return value


class ToolDefinition(Record):
    """A tool as shown to a model: a name, a description, a JSON Schema of its arguments.

    `parameters=` takes the schema, or a function without arguments that returns it on first use. `examples` are
    argument objects from the tool's author. `server` names the MCP server that runs the tool.
    """

    name: StrictStr
    description: StrictStr = ""
    source: JsonObject | Callable[[], JsonObject] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}, alias="parameters", repr=False, exclude=True
    )
    examples: tuple[JsonObject, ...] = ()
    server: StrictStr | None = None
    metadata: JsonObject = Field(default_factory=dict, repr=False)

    @computed_field(repr=False)
    @cached_property
    def parameters(self) -> JsonObject:
        """The JSON Schema of the arguments, an object schema; built once, key order kept."""
        schema: object = self.source() if callable(self.source) else self.source
        if not jsontext.is_object(schema):
            raise SchemaError(
                f"tool {self.name!r}: parameters= made a {type(schema).__name__}, not a JSON Schema object"
            )
        return schema

    @property
    def is_dangerous(self) -> bool:
        """Whether the metadata says so: `dangerous`, or MCP's hint that the tool destroys something."""
        notes = self.metadata.get("annotations")
        hint = cast("JsonObject", notes).get("destructiveHint") if isinstance(notes, dict) else None
        return bool(self.metadata.get("dangerous", hint))  # every value but false and null counts: in doubt, it is


class ToolInvocation(Record):
    """A call that a model made: the tool's name and a JSON object of arguments."""

    name: StrictStr
    arguments: JsonObject = Field(default_factory=dict)
    id: StrictStr | None = None
    raw_arguments: StrictStr | None = Field(default=None, repr=False)
    server: StrictStr | None = None
    agent: StrictStr | None = None
    provenance: CallProvenance = "api"
    certainty: Certainty = "exact"
    extra: JsonObject = Field(default_factory=dict, repr=False)

    @field_validator("arguments", mode="before")
    @classmethod
    def _are_read(cls, value: object) -> object:
        if isinstance(value, str):
            raise PydanticCustomError("dict_type", "expected a JSON object, not str: read it with json.loads first")
        return value


class Media(Record):
    """An image, audio, video or document: its bytes in base64, or its URL."""

    kind: Literal["image", "audio", "video", "document"]
    media_type: StrictStr = ""
    data: StrictStr | None = Field(default=None, repr=False)
    url: StrictStr | None = None
    name: StrictStr | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.data is None) == (self.url is None):
            raise ValueError("media has either `data`, in base64, or a `url`")
        return self

    @classmethod
    def of(cls, data: bytes, media_type: str, name: str | None = None) -> Media:
        """Make media from bytes; the media type, such as `image/png`, determines the kind."""
        group = media_type.partition("/")[0]
        kind = group if group in {"image", "audio", "video"} else "document"
        return cls.model_validate(
            {"kind": kind, "media_type": media_type, "data": b64encode(data).decode(), "name": name}
        )

    @property
    def note(self) -> str:
        """The text that replaces it in formats without media: `[image: chart.png, image/png, 1,234 bytes]`."""
        size = "" if self.data is None else f"{len(self.data) * 3 // 4 - self.data[-2:].count('='):,} bytes"
        facts = ", ".join(filter(None, (self.name, self.media_type, self.url, size)))
        return f"[{self.kind}: {facts}]"


class ToolResult(Record):
    """A tool's result: a JSON value or an error's text, and media."""

    name: StrictStr
    content: JsonValue = None
    media: tuple[Media, ...] = ()
    is_error: bool = False
    id: StrictStr | None = None
    server: StrictStr | None = None
    agent: StrictStr | None = None
    extra: JsonObject = Field(default_factory=dict, repr=False)
