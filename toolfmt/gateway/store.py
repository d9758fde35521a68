"""What is kept of exchanges: conversations to go on with by `previous_response_id`, and a record of what was said.

    store = Store("sqlite:///gateway.db")
    store.save(KeptExchange(id="resp_1", face="openai-responses", request={...}, answer={...}))
    store.find("resp_1", owner="")
    for row in store.rows(): ...        # {"id": ..., "request": {...}, "answer": {...}}

A row is written before the client is given the end of its answer. It holds the whole conversation, as its client wrote
it; `toolfmt view --at /request --answer /answer` reads what `toolfmt recorded` prints. Needs the extra `store`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.errors import MissingExtraError, ParseError

try:
    sql: Any = import_module(
        "sqlalchemy"
    )  # by name, as what an extra brings: it is not there for those who keep nothing
    SQLAlchemyError: type[Exception] = import_module("sqlalchemy.exc").SQLAlchemyError
except ImportError:
    raise MissingExtraError("a gateway's store", "store") from None

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

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

    def delete(self, ident: str, owner: str) -> bool:
        """Delete an exchange; whether there was one. Raises `StoreError`."""
        columns = _EXCHANGES.c
        try:
            with self._engine.begin() as connection:
                query = sql.delete(_EXCHANGES).where(columns.id == ident, columns.owner == owner, columns.kept)
                return bool(connection.execute(query).rowcount)
        except SQLAlchemyError as error:
            raise StoreError(f"the store cannot be written: {type(error).__name__}") from error

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
