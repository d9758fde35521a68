"""A transcript format: one way to write a whole conversation down, both directions, and what its provider demands.

`read` takes a value apart into the hub (`toolfmt.conversation`); `write` puts a
conversation, already in the shape that `rules` demand, together again. Neither
knows any other format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError, ToolFmtError
from toolfmt.schema.rules import ANY, SchemaRules

if TYPE_CHECKING:
    from toolfmt.conversation import Role, ToolDeclaration, Transcript
    from toolfmt.dialect.record import Provenance
    from toolfmt.model import JsonValue

Kind: TypeAlias = Literal["text", "json", "image", "audio", "video", "document"]
ANYTHING: Final[frozenset[Kind]] = frozenset({"text", "image", "audio", "video", "document"})
"""What a message can show, where a format sets no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a format can hold and what its provider refuses; `shape` fits a conversation to it, `check` reports."""

    format: str = ""
    """The name of the format, which sets it: its opaque parts are written as they came, others have no place."""
    roles: frozenset[Role] = frozenset({"system", "developer", "user", "assistant", "tool"})
    system: Literal["anywhere", "first"] = "anywhere"
    """`first`: instructions stand before the conversation, in a place of their own."""
    call_ids: Literal["required", "optional", "none"] = "required"
    call_id: str = ""
    """A regular expression for a call's id; empty: any text."""
    call_id_length: int = 0
    """At most so many characters; 0: any number."""
    call_id_exact: bool = False
    """An id has just as many characters as `call_id_length` says; letters and digits are among them."""
    unique_ids: bool = False
    """No id may be used again later in the conversation; else within one turn alone."""
    fresh_ids: bool = False
    """A conversion gives each call an id of its own, although one that comes again in a later turn is accepted."""
    tool_name: str = ""
    tool_name_start: str = ""
    """What a tool's name may begin with, where that is less than what may follow."""
    tool_name_length: int = 0
    result_names: bool = False
    """A result names its tool."""
    results_in_order: bool = False
    """A result is linked to its call by its place alone, so results follow in the order of the calls."""
    results_in: Literal["tool", "user"] = "tool"
    """The role that results stand in: one message each (`tool`), or parts of the user's turn."""
    results_alone: bool = False
    """A turn with results says nothing else; what the user adds follows in a message of its own."""
    result_kinds: frozenset[Kind] = frozenset({"text"})
    user_kinds: frozenset[Kind] = frozenset({"text", "image"})
    assistant_kinds: frozenset[Kind] = frozenset({"text"})
    other_kinds: bool = True
    """Content of a kind that is not known here may mean something to the provider."""
    url_kinds: frozenset[Kind] = ANYTHING
    """The kinds of media that may be an address; others need the bytes, or a file id of one of the `owners`."""
    media_types: frozenset[str] = frozenset()
    """The media types that are accepted, but for what is at an address; empty: any."""
    owners: frozenset[str] = frozenset()
    """Whose signatures and file ids mean something here; empty: the writer decides."""
    reasoning: bool = True
    """Reasoning has a place."""
    calls_declared: bool = False
    """A conversation with calls declares tools."""
    unsigned: bool = True
    """Reasoning may stand without a proof from one of the `owners`."""
    neighbours: Literal["apart", "turn", "answers", "joined", "refused"] = "apart"
    """What becomes of neighbours of one role.

    They stay messages of their own, which the provider may read as one `turn`; only `answers` that think or call are
    written as one message; or all are, as the provider does itself (`joined`), or because it refuses them.
    """
    interleaved: bool = True
    """The order of reasoning, text and calls in a message is kept; else it is just this one."""
    blank_text: Literal["accepted", "beside", "refused"] = "accepted"
    """What the provider makes of text that is nothing but white space; `beside`: accepted beside other content."""
    empty_messages: bool = True
    """A message may have no content."""
    one_answer: bool = False
    """Holds what the user asks and the calls of the first answer; the rest of a conversation is left out."""
    silent: frozenset[Role] = frozenset()
    """Whose messages may have no content all the same."""
    instructions_alone: bool = True
    """Instructions are a request even where nobody has said anything; else the last of them are the user's."""
    user_first: bool = False
    """Some of the provider's models refuse a conversation that the assistant opens."""
    continues: frozenset[str] = frozenset()
    """Fields of `Transcript.extra` which say that the provider holds what was said before."""
    ends_in_space: bool = True
    """An answer that comes last, to be continued, may end in white space."""
    prefix: bool = False
    """An answer that comes last, to be continued, is marked as a `prefix`."""
    results_follow: bool = True
    """Results directly follow the answer with their calls; else they are anywhere after it."""
    arguments: Literal["text", "object", "any"] = "text"
    """What arguments are on the wire: JSON text, a JSON object, or any value, so that broken ones have a place."""
    trained: bool = False
    """Rows to train on: a file of them gets no call without a name or without a JSON object of arguments."""
    namespaces: bool = False
    """Tools and calls have a namespace beside their name."""
    custom_tools: bool = False
    """A tool may take free text; else it is a function of one text."""
    schema: SchemaRules = ANY
    """What is accepted of JSON Schema in a tool's declaration."""
    strict_schema: SchemaRules | None = None
    """What is accepted where the declaration says `strict`; None: the same."""
    own_schema: Callable[[ToolDeclaration], JsonValue] | None = None
    """Gives a tool's schema where it was read in a dialect that is the format's own, else None."""
    own_dialect: SchemaRules = ANY
    """What is accepted of such a schema."""

    def is_continued(self, transcript: Transcript) -> bool:
        """Whether the provider holds what was said before."""
        return any(transcript.extra.get(key) is not None for key in self.continues)

    def schema_of(self, tool: ToolDeclaration) -> tuple[JsonValue, SchemaRules]:
        """Give a tool's schema as it is in the declaration, and what is accepted of it."""
        own = self.own_schema(tool) if self.own_schema is not None else None
        if own is not None:
            return own, self.own_dialect
        return tool.parameters, self.strict_schema if tool.strict and self.strict_schema is not None else self.schema


ALL_KINDS: Final = Rules(
    roles=frozenset({"system", "user", "assistant", "tool"}),
    result_kinds=ANYTHING,
    user_kinds=ANYTHING,
    assistant_kinds=ANYTHING,
    neighbours="answers",
    arguments="any",
)
"""What most logs and frameworks can hold: media from everybody, arguments of any kind."""
JSON_RESULTS: Final = replace(ALL_KINDS, result_kinds=ANYTHING | frozenset[Kind]({"json"}))
"""The same, with results that are JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFormat:
    """One format of conversations."""

    name: str
    summary: str
    read: Callable[[JsonValue], Transcript]
    write: Callable[[Transcript], JsonValue]
    rules: Rules
    recognise: Callable[[JsonValue], bool]
    """Whether a value can only be of this format, for `source="auto"`."""
    writable: bool = True
    """Else it is only read, and `write` raises `UnrepresentableError`."""
    models: str = ""
    """A regular expression for the models that the provider serves; a request for another is a copy's. Empty: all."""
    copies: Rules | None = None
    """What servers with the same API demand for other models; None: the same."""
    gateway: TranscriptFormat | None = None
    """The same with what gateways and copies of the API take beside it; None: nothing."""
    relative_of: str = ""
    """The format that this one is a variety of: what fits both is of this one."""
    messages: str = "messages"
    """The key of the messages, which may stand alone as a list."""
    spellings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further spellings of a request's keys that are read, each with the one that is written."""
    rated: bool = False
    """Has a place for an answer that was liked less, and for whether one was liked."""
    session: bool = False
    """Whether a conversation is a file of its own, with a JSON object on each line."""
    common: int = 0
    """How common its conversations are: of formats that all read a value alike, the most common is taken."""
    aliases: tuple[str, ...] = ()
    sources: tuple[Provenance, ...] = ()

    def __post_init__(self) -> None:
        """Set the rules' owner."""
        for key in ("rules", "copies"):
            rules: Rules | None = getattr(self, key)
            if rules is not None:
                object.__setattr__(self, key, replace(rules, format=self.name))

    @property
    def widest(self) -> TranscriptFormat:
        """The variety that holds most."""
        return self.gateway or self

    def rules_for(self, transcript: Transcript) -> Rules:
        """Give the rules of whoever serves the model that a request names."""
        model = transcript.extra.get(f"{self.name}.model")
        elsewhere = self.copies is not None and isinstance(model, str) and not re.match(self.models, model)
        return self.copies if elsewhere and self.copies is not None else self.rules


@contextmanager
def reraise_as_parse_error(name: str, *values: object) -> Generator[None]:
    """Turn what a value of quite another shape makes a reader stumble over into a ParseError.

    `values` are what is read: one that is nested too deeply is refused before.
    """
    if any(jsontext.too_deep(value) for value in values):
        raise LimitExceededError(f"{name}: a value is nested more than {jsontext.MAX_NESTING} levels deep")
    try:
        yield
    except ToolFmtError:
        raise
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ParseError(f"{name}: a field has the wrong type: {reason}") from error
