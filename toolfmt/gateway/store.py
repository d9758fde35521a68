"""What is kept of exchanges: conversations to go on with by `previous_response_id`, and a record of what was said.

    store = Store("sqlite:///gateway.db")
    store.save(KeptExchange(id="resp_1", face="openai-responses", request={...}, answer={...}))
    store.find("resp_1", owner="")
    for row in store.rows(): ...        # {"id": ..., "request": {...}, "answer": {...}}

A row is written before the client is given the end of its answer. It holds the whole conversation, as its client wrote
it; `toolfmt view --at /request --answer /answer` reads what `toolfmt recorded` prints. Needs the extra `store`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anyio import to_thread

from toolfmt import jsontext
from toolfmt.errors import MissingExtraError, ParseError, ToolFmtError
from toolfmt.gateway.apis import NAMED
from toolfmt.gateway.failing import refusal
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.exchanges import exchange, message_list
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.model import JsonObject


try:
    sql: Any = import_module(
        "sqlalchemy"
    )  # by name, as what an extra brings: it is not there for those who keep nothing
    SQLAlchemyError: type[Exception] = import_module("sqlalchemy.exc").SQLAlchemyError
except ImportError:
    raise MissingExtraError("a gateway's store", "store") from None


_EXCHANGES: Final[Any] = sql.Table(
    "toolfmt_exchanges",
    sql.MetaData(),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(200), unique=True, nullable=False),
    sql.Column("owner", sql.String(200), nullable=False),
    sql.Column("created", sql.Integer, nullable=False),
    sql.Column("model", sql.String(200), nullable=False),
    sql.Column("face", sql.String(50), nullable=False),
    sql.Column("kept", sql.Boolean, nullable=False),
    sql.Column("request", sql.Text, nullable=False),
    sql.Column("answer", sql.Text, nullable=False),
)


class StoreError(Exception):
    """The store cannot be read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExchange:
    """A request and its answer, both of the client's API."""

    id: str
    owner: str = ""
    """What the configuration calls the client's key; nobody else goes on with it."""
    created: int = 0
    model: str = ""
    face: str
    kept: bool = True
    """Whether the client may go on with it; else it is only recorded."""
    request: JsonObject
    answer: JsonObject


class Store:
    """A database of exchanges."""

    def __init__(self, url: str) -> None:
        """Open it, and make its table where there is none; raises `ParseError` where that cannot be done."""
        try:
            self._engine: Any = sql.create_engine(url)
            if self._engine.dialect.name == "sqlite":  # a database's own settings, which no other has
                sql.event.listen(self._engine, "connect", _durable)
            _EXCHANGES.metadata.create_all(self._engine)
        except (ImportError, SQLAlchemyError) as error:
            raise ParseError(f"the store cannot be opened: {error}") from None

    def save(self, exchange: KeptExchange) -> None:
        """Write an exchange; it is there for good when this returns. Raises `StoreError`."""
        row = asdict(exchange)
        row |= {"request": jsontext.dumps(exchange.request), "answer": jsontext.dumps(exchange.answer)}
        try:
            with self._engine.begin() as connection:
                connection.execute(sql.insert(_EXCHANGES).values(row))
        except SQLAlchemyError as error:
            raise StoreError(f"the exchange cannot be stored: {type(error).__name__}") from error

    def find(self, ident: str, owner: str) -> KeptExchange | None:
        """Find what a client may go on with. Raises `StoreError`."""
        columns = _EXCHANGES.c
        query = sql.select(_EXCHANGES).where(columns.id == ident, columns.owner == owner, columns.kept)
        try:
            with self._engine.connect() as connection:
                row = connection.execute(query).mappings().first()
        except SQLAlchemyError as error:
            raise StoreError(f"the store cannot be read: {type(error).__name__}") from error
        return None if row is None else _exchange(dict(row))

    def rows(self) -> Iterator[JsonObject]:
        """Give all exchanges as JSON, in the order in which they were written."""
        with self._engine.connect() as connection:
            result = connection.execution_options(yield_per=100).execute(sql.select(_EXCHANGES).order_by("number"))
            for row in result.mappings():
                yield asdict(_exchange(dict(row)))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _exchange(row: dict[str, Any]) -> KeptExchange:
    row.pop("number")
    return KeptExchange(**{**row, "request": jsontext.loads(row["request"]), "answer": jsontext.loads(row["answer"])})


def _durable(connection: Any, _: object) -> None:
    """Let SQLite keep what it has acknowledged, whatever becomes of the process or the machine."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


class Keeper:
    """Puts what a request names of an earlier conversation before it, and keeps answers.

    {"previous_response_id": "resp_1", "input": "And tomorrow?"}  ->  {"input": [the earlier messages, "And tomorrow?"]}
    """

    def __init__(self, store: Store, *, record: bool) -> None:
        """Take the store; `record`: keep exchanges of all faces, also those that clients do not want stored."""
        self.store = store
        self._record = record

    async def continued(self, body: JsonObject, format: str, owner: str) -> JsonObject:  # noqa: A002 - the field's name
        """Put an earlier conversation before a request that names it; raises `ExchangeError` for an unknown one."""
        field = NAMED.get(format, "")
        ident = body.get(field)
        if ident is None:
            return body
        if not isinstance(ident, str) or not ident:
            raise refusal(
                "invalid", f"{field} is the id of an earlier answer, not {jsontext.dumps(ident)[:80]}", param=field
            )
        try:
            earlier = await to_thread.run_sync(self.store.find, ident, owner)
        except StoreError as error:
            raise refusal("server", str(error)) from None
        if earlier is None or earlier.face != format:
            raise refusal("not_found", f"{field}: there is no {ident!r}", param=field)
        made = find(format)
        try:
            whole = exchange(earlier.request, earlier.answer, format)
        except ToolFmtError as error:
            raise refusal("server", f"{ident!r} cannot be read", error) from None
        before = whole.get(made.messages) if is_object(whole) else whole
        rest = {name: value for name, value in body.items() if name != field}
        return {
            **rest,
            made.messages: [*(before if is_array(before) else []), *message_list(body.get(made.messages), made)],
        }

    def wants(self, body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
        """Whether an exchange is kept."""
        return self._record or _kept(body, format)

    async def keep(self, row: JsonObject, request: JsonObject, answer: JsonObject, format: str) -> None:  # noqa: A002 - as above
        """Keep an exchange, of which `row` says the rest; raises `ExchangeError` where that cannot be done."""
        made = KeptExchange(**row, face=format, kept=_kept(request, format), request=request, answer=answer)
        try:
            await to_thread.run_sync(self.store.save, made)
        except StoreError as error:
            raise refusal("server", str(error)) from None


def _kept(body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
    return format in NAMED and body.get("store") is not False
