"""`toolfmt recorded`: what a gateway has recorded, as rows that other commands read."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.errors import UsageError
from toolfmt.cli.output import write_json_line
from toolfmt.errors import MissingExtraError


def recorded(
    store: Annotated[str, Parameter(help="The address of the gateway's store, such as sqlite:///gateway.db.")], /
) -> None:
    """Print the exchanges that a gateway has recorded, as JSON Lines: each row has a `request` and its `answer`.

    toolfmt recorded sqlite:///gateway.db | toolfmt view --at /request --answer /answer -
    """
    scheme, _, path = store.partition(":///")
    if not path and "://" not in store:
        raise UsageError(f"{store} is no address of a store: for a file, write sqlite:///{store}")
    if scheme == "sqlite" and path and not Path(path).is_file():
        raise UsageError(f'{path}: there is no such store; a gateway with `store = "{store}"` makes one')
    try:
        from toolfmt.gateway.store import Store
    except ImportError:
        raise MissingExtraError("toolfmt recorded", "store") from None
    for row in Store(store).rows():
        write_json_line(row)
