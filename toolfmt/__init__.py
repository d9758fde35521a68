"""Speak the tool-call formats of language models: show tools, read calls, write both.

The public names are listed in `__init__.pyi`. Each is imported when it is first
used, so `import toolfmt` costs nothing that a program does not need.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; for an unknown one, the error names its module or similar names."""
    if name in __all__ or name.startswith("_"):
        return _load(name)
    import inspect
    import re
    from pathlib import Path

    from toolfmt.errors import close_names, did_you_mean

    root = Path(__file__).parent
    exports = re.compile(rf"\b{re.escape(name)} as {re.escape(name)}\b")
    homes = [stub.parent.name for stub in sorted(root.glob("*/__init__.pyi")) if exports.search(stub.read_text())]
    hint = did_you_mean(close_names(name, {one.lower(): one for one in __all__})) or "dir(toolfmt) lists all"
    if not homes:
        raise AttributeError(f"module 'toolfmt' has no attribute {name!r}; {hint}")
    hint = f"from toolfmt.{homes[0]} import {name}"
    caller = getattr(inspect.currentframe(), "f_back", None)
    imported = caller is not None and caller.f_code.co_name == "_handle_fromlist"  # whose own error has no hint
    raise (ImportError if imported else AttributeError)(f"module 'toolfmt' has no {name!r}; write: {hint}")
