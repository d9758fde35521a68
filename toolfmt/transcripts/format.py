"""A transcript format: how a conversation is read and written, and what its provider accepts.

`read` turns a value into a `Transcript` of `toolfmt.conversation`. `write` turns a transcript, already fitted to the
format's `rules`, into a value. Neither knows any other format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import Role, ToolDeclaration, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError, ToolFmtError
from toolfmt.model import JsonValue
from toolfmt.schema.rules import ANY, SchemaRules

Kind: TypeAlias = Literal["text", "json", "image", "audio", "video", "document"]
ANYTHING: Final[frozenset[Kind]] = frozenset({"text", "image", "audio", "video", "document"})
"""All kinds of content except JSON."""


class Spelling(NamedTuple):
    """What a name or an id may consist of."""

    characters: str = ""
    """A regular expression for one character; empty: any."""
    length: int = 0
    """The largest number of characters; 0: any number."""
    exact: bool = False
    """There are exactly `length` characters. Letters and digits must be allowed."""
    start: str = ""
    """A pattern for the first character, if it is narrower."""


ANY_TEXT: Final = Spelling()
NAMES: Final = Spelling(r"[a-zA-Z0-9_-]", 64)
"""The names of tools at most providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a format can hold and its provider accepts: `shape` fits conversations to it, `check` reports the rest."""

    format: str = ""
    """The name of the format, set by `TranscriptFormat`. Only opaque parts of this format are written."""
    roles: frozenset[Role] = frozenset({"system", "developer", "user", "assistant", "tool"})
    system: Literal["anywhere", "first"] = "anywhere"
    """`first`: instructions come before the conversation, in a separate field."""
    call_ids: Literal["required", "optional", "none"] = "required"
    call_id: Spelling = ANY_TEXT
    unique_ids: bool = False
    """An id is unique in the whole conversation; otherwise in its turn."""
    fresh_ids: bool = False
    """A conversion makes ids unique in the whole conversation, even if the provider would accept repeated ones."""
    tool_name: Spelling = ANY_TEXT
    result_names: bool = False
    """A result names its tool."""
    results_in_order: bool = False
    """A result is linked to its call by its place alone, so results follow in the order of the calls."""
    results_in: Literal["tool", "user"] = "tool"
    """Where results are: one `tool` message each, or parts of a `user` message."""
    results_alone: bool = False
    """A message with results contains nothing else; text of the user follows in another message."""
    result_kinds: frozenset[Kind] = frozenset({"text"})
    user_kinds: frozenset[Kind] = frozenset({"text", "image"})
    assistant_kinds: frozenset[Kind] = frozenset({"text"})
    other_kinds: bool = True
    """Unknown kinds of content may be valid for the provider."""
    url_kinds: frozenset[Kind] = ANYTHING
    """The kinds of media that may be given as a URL; others need data, or a file id of one of the `owners`."""
    media_types: frozenset[str] = frozenset()
    """The accepted media types of data; empty: any."""
    owners: frozenset[str] = frozenset()
    """The providers whose signatures and file ids are accepted; empty: the writer decides."""
    reasoning: bool = True
    """The format has a field for reasoning."""
    empty_tools: bool = True
    """A request may declare an empty list of tools."""
    calls_declared: bool = False
    """A conversation with calls must declare tools."""
    unsigned: bool = True
    """Reasoning is accepted without a signature of one of the `owners`."""
    neighbours: Literal["apart", "turn", "answers", "joined", "refused"] = "apart"
    """What happens to adjacent messages of the same role.

    `apart`: they stay separate. `turn`: they stay separate, and the provider reads them as one turn. `answers`: only
    answers with reasoning or calls are joined. `joined`, `refused`: all are joined, as the provider would do itself, or
    because it refuses them.
    """
    interleaved: bool = True
    """The order of reasoning, text and calls in a message is kept; otherwise it is always this order."""
    blank_text: Literal["accepted", "beside", "refused"] = "accepted"
    """Whether text of nothing but white space is accepted; `beside`: only beside other content."""
    empty_messages: bool = True
    """A message may have no content."""
    one_answer: bool = False
    """The format holds the user's request and the calls of the first answer; the rest is left out."""
    silent: frozenset[Role] = frozenset()
    """The roles whose messages may be empty even if `empty_messages` is false."""
    instructions_alone: bool = True
    """A request may consist of instructions alone; otherwise the last instruction becomes the user's message."""
    user_first: bool = False
    """Some of the provider's models refuse a conversation that begins with the assistant."""
    continues: frozenset[str] = frozenset()
    """Keys of `Transcript.extra` that refer to earlier messages stored at the provider."""
    ends_in_space: bool = True
    """The last message, if it is the assistant's, may end in white space."""
    prefix: bool = False
    """The last message, if it is the assistant's, must be marked with `prefix`."""
    results_follow: bool = True
    """Results come directly after the answer with their calls; otherwise anywhere after it."""
    arguments: Literal["text", "object", "any"] = "text"
    """The type of arguments in a call: JSON text, a JSON object, or any value."""
    trained: bool = False
    """The format is for training rows: calls need a name and a JSON object of arguments."""
    answered: bool = False
    """A row ends with an answer of the assistant, and at least one answer is trained on."""
    namespaces: bool = False
    """Tools and calls have a namespace."""
    custom_tools: bool = False
    """A tool may take free text; otherwise it becomes a function with one text argument."""
    schema: SchemaRules = ANY
    """The JSON Schema that is accepted in a tool's declaration."""
    strict_schema: SchemaRules | None = None
    """The schema accepted for a `strict` tool; None: the same."""
    own_schema: Callable[[ToolDeclaration], JsonValue] | None = None
    """Returns a tool's schema if it was read in the format's own schema dialect, else None."""
    own_dialect: SchemaRules = ANY
    """What is accepted in the format's own schema dialect."""

    def is_continued(self, transcript: Transcript) -> bool:
        """Whether a request refers to earlier messages stored at the provider."""
        return any(transcript.extra.get(key) is not None for key in self.continues)

    def schema_of(self, tool: ToolDeclaration) -> tuple[JsonValue, SchemaRules]:
        """Return a tool's schema as declared, and the rules for it."""
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
"""What most logs and frameworks support: media in every role, arguments of any type."""
JSON_RESULTS: Final = replace(ALL_KINDS, result_kinds=ANYTHING | frozenset[Kind]({"json"}))
"""The same, with results that are JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFormat:
    """One format of conversations."""

    name: str
    summary: str
    read: Callable[..., Transcript]
    write: Callable[[Transcript], JsonValue]
    rules: Rules
    rereads: bool = False
    """`read` takes the messages `sent` that a value was just written from: plain ones represent what was written."""
    recognise: Callable[[JsonValue], bool]
    """Whether a value can only be of this format, for `source="auto"`."""
    writable: bool = True
    """Whether the format can be written; otherwise `write` raises `UnrepresentableError`."""
    models: str = ""
    """A regular expression for the provider's own models; requests for others go to copies of its API. Empty: all."""
    copies: Rules | None = None
    """The rules of copies of the API; None: the same."""
    gateway: TranscriptFormat | None = None
    """The format with the further fields that gateways and copies of the API accept; None: there are none."""
    relative_of: str = ""
    """The format that this one is a variant of: a value that fits both is of this one."""
    messages: str = "messages"
    """The key of the messages. The list alone is accepted too."""
    spellings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other accepted spellings of a request's keys, each with the one that is written."""
    rated: bool = False
    """The format holds a rejected answer, and the rating of an answer."""
    session: bool = False
    """Whether a conversation is a whole file with a JSON object on each line."""
    begins: Callable[[str], list[int]] = lambda _: [0]
    """Finds the lines on which sessions begin in a file of several, counted from 0."""
    common: int = 0
    """How common the format is: of several formats that read a value alike, the most common is chosen."""
    aliases: tuple[str, ...] = ()
    demands: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    """What a conversation must have to be written under an alias: one of these fields of a transcript."""
    sources: tuple[Provenance, ...] = ()

    def __post_init__(self) -> None:
        """Set the rules' owner."""
        for key in ("rules", "copies"):
            rules: Rules | None = getattr(self, key)
            if rules is not None:
                object.__setattr__(self, key, replace(rules, format=self.name))

    def read_back(self, value: JsonValue, sent: Transcript) -> Transcript:
        """Read what was just written from a conversation."""
        return self.read(value, sent=sent.messages) if self.rereads else self.read(value)

    @property
    def widest(self) -> TranscriptFormat:
        """The variant that accepts most."""
        return self.gateway or self

    def rules_for(self, transcript: Transcript) -> Rules:
        """Return the rules of the provider, or of copies of its API if the request names another model."""
        model = transcript.extra.get(f"{self.name}.model")
        elsewhere = self.copies is not None and isinstance(model, str) and not re.match(self.models, model)
        return self.copies if elsewhere and self.copies is not None else self.rules


class reraise_as_parse_error:  # noqa: N801 - used like a function
    """Raise `ParseError` for the errors that a reader raises for a value of the wrong shape.

    Raises `LimitExceededError` for one of the `values` that is nested too deeply.
    """

    def __init__(self, name: str, *values: object) -> None:
        """Check the values; the format's name begins the message."""
        for value in values:
            jsontext.check_depth(value, f"{name}: a value")
        self._name = name

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise another error in place of one of the wrong shape."""
        if isinstance(error, _MISSHAPEN) and not isinstance(error, ToolFmtError):
            reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise ParseError(f"{self._name}: a field has the wrong type: {reason}") from error


_MISSHAPEN: Final = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
