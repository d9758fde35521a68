# The package has no types of its own; this is all that is used of it.

from collections.abc import Callable
from typing import Any

def attach_stub(
    package_name: str, filename: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]: ...
