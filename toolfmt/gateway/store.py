"""A database of exchanges: answers that clients continue from, and a record of all traffic.

    store = Store("sqlite:///gateway.db")
    store.save(KeptExchange(id="resp_1", face="openai-responses", request={...}, answer={...}))
    store.save(KeptExchange(id="resp_2", earlier="resp_1", face="openai-responses", request={...}, answer={...}))
    store.find("resp_2", owner="")      # both, the first one first
    for row in store.rows(): ...        # {"id": ..., "back": "local", "status": 200, "request": {...}, "answer": {...}}

A row holds the messages of its own request, so a conversation of any length grows the database by what is new in it.
Needs the extra `store`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.errors import MissingExtraError, ParseError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.exchanges import message_list
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.reading import opened

try:
    sql: Any = import_module("sqlalchemy")  # by name: it comes with an extra
    SQLAlchemyError: type[Exception] = import_module("sqlalchemy.exc").SQLAlchemyError
    DatabaseError: type[Exception] = import_module("sqlalchemy.exc").DatabaseError
except ImportError:
    raise MissingExtraError("a gateway's store", "store") from None


_EXCHANGES: Final[Any] = sql.Table(
    "toolfmt_exchanges",
    sql.MetaData(),
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(200), unique=True, nullable=False),
    sql.Column("owner", sql.String(200), nullable=False),
    sql.Column("earlier", sql.String(200), index=True),
    sql.Column("created", sql.Integer, nullable=False),
    sql.Column("model", sql.String(200), nullable=False),
    sql.Column("face", sql.String(50), nullable=False),
    sql.Column("back", sql.String(200), nullable=False),
    sql.Column("status", sql.Integer, nullable=False),
    sql.Column("kept", sql.Boolean, nullable=False),
    sql.Column("request", sql.Text, nullable=False),
    sql.Column("answer", sql.Text, nullable=False),
)


class StoreError(Exception):
    """The store cannot be read or written."""


@contextmanager
def _raising(what: str) -> Generator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(f"{what}: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExchange:
    """A request and its answer, both in the format of the client's API."""

    id: str
    owner: str = ""
    """The name of the client's key in the configuration; other keys cannot continue from it."""
    earlier: str | None = None
    """The id of the answer that it continues from; the messages before are there."""
    created: int = 0
    model: str = ""
    face: str
    back: str = ""
    """The name of the back that answered, or failed last."""
    status: int = 200
    """The status of the answer; if `answer` is an error, that of the error, even if it ended a stream."""
    kept: bool = True
    """Whether the client may read it and continue from it; else it is only a record, or a part of later ones."""
    request: JsonObject
    answer: JsonObject


class Store:
    """A database of exchanges."""

    def __init__(self, url: str) -> None:
        """Open it, and make its table if there is none; raises `ParseError` if that cannot be done."""
        try:
            self._engine: Any = sql.create_engine(url, pool_pre_ping=True)
            if self._engine.dialect.name == "sqlite":  # a database's own settings, which no other has
                sql.event.listen(self._engine, "connect", _durable)
            with suppress(DatabaseError):  # another gateway may make it at the same time
                _EXCHANGES.metadata.create_all(self._engine)
            _EXCHANGES.metadata.create_all(self._engine)
            found = {column["name"] for column in sql.inspect(self._engine).get_columns(_EXCHANGES.name)}
        except (ImportError, SQLAlchemyError) as error:
            reason = str(error).partition("\n")[0]
            advice = "" if isinstance(error, DatabaseError) else "; `store` is an address such as sqlite:///gateway.db"
            raise ParseError(f"the store cannot be opened: {reason}{advice}") from None
        self.close()  # processes that are started later open connections of their own
        if lacking := [column.name for column in _EXCHANGES.columns if column.name not in found]:
            raise ParseError(
                f"the store cannot be used: its table {_EXCHANGES.name} is of another version and has no column "
                f"{', '.join(lacking)}; choose another database, or rename the table"
            )

    def save(self, exchange: KeptExchange) -> None:
        """Write an exchange; it is there for good when this returns. Raises `StoreError`."""
        row = asdict(exchange)
        row |= {"request": jsontext.dumps(exchange.request), "answer": jsontext.dumps(exchange.answer)}
        with _raising("the exchange cannot be stored"), self._engine.begin() as connection:
            connection.execute(sql.insert(_EXCHANGES).values(row))

    def find(self, ident: str, owner: str) -> list[KeptExchange]:
        """Find an exchange that a client may continue from, after all those before it; empty if there is none.

        Raises `StoreError`.
        """
        columns = _EXCHANGES.c
        with _raising("the store cannot be read"), self._engine.connect() as connection:
            return _chain(connection, columns.id == ident, columns.owner == owner, columns.kept)

    def delete(self, ident: str, owner: str, *, recorded: bool) -> bool:
        """Delete an exchange, with those before it that were deleted earlier; False if there is none.

        One that a later exchange continues from is hidden, and deleted with that one; where all traffic is `recorded`,
        the record stays. Raises `StoreError`.
        """
        columns, one = _EXCHANGES.c, ident
        owned = (columns.id == ident, columns.owner == owner, columns.kept)
        with _raising("the exchange cannot be deleted"), self._engine.begin() as connection:
            hidden = connection.execute(sql.update(_EXCHANGES).where(*owned).values(kept=False)).rowcount > 0
            while hidden and not recorded and one is not None:
                row = connection.execute(sql.select(columns.earlier, columns.kept).where(columns.id == one)).first()
                later = sql.select(columns.id).where(columns.earlier == one).limit(1)
                if row is None or row.kept or connection.execute(later).first() is not None:
                    break
                connection.execute(sql.delete(_EXCHANGES).where(columns.id == one))
                one = row.earlier
        return hidden

    def rows(self) -> Iterator[JsonObject]:
        """Return all exchanges as JSON in the order in which they were written, each request with all its messages."""
        ordered = sql.select(_EXCHANGES).order_by(_EXCHANGES.c.number)
        with self._engine.connect() as connection, self._engine.connect() as other:
            for row in connection.execution_options(yield_per=100).execute(ordered).mappings():
                one = _exchange(row)
                if one.earlier is not None:
                    before = messages_of(_chain(other, _EXCHANGES.c.id == one.earlier))
                    one = replace(one, request=after(before, one.request, one.face))
                yield asdict(one)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def messages_of(chain: Iterable[KeptExchange]) -> list[JsonValue]:
    """List the messages of exchanges, their answers among them."""
    found: list[JsonValue] = []
    for one in chain:
        made = find(one.face)
        for value in (one.request, *opened(one.answer, made)):
            found += message_list(value.get(made.messages) if is_object(value) else value, made)
    return found


def after(before: Iterable[JsonValue], request: JsonObject, face: str) -> JsonObject:
    """Put earlier messages before those of a request."""
    made = find(face)
    return {**request, made.messages: [*before, *message_list(request.get(made.messages), made)]}


def _chain(connection: Any, *conditions: Any) -> list[KeptExchange]:
    """Read the exchange that meets the conditions, and all those before it, the first one first."""
    chain = sql.select(_EXCHANGES).where(*conditions).cte(recursive=True)
    chain = chain.union_all(sql.select(_EXCHANGES).where(_EXCHANGES.c.id == chain.c.earlier))
    rows = connection.execute(sql.select(chain).order_by(chain.c.number)).mappings()
    return [_exchange(row) for row in rows]


def _exchange(row: Mapping[str, Any]) -> KeptExchange:
    texts = {name: jsontext.loads(row[name]) for name in ("request", "answer")}
    return KeptExchange(**{name: value for name, value in row.items() if name != "number"} | texts)


def _durable(connection: Any, _: object) -> None:
    """Let SQLite keep what it has acknowledged, whatever becomes of the process or the machine."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()
