"""Speak the tool-call formats of language models: show tools, read calls, write both.

The public names are listed in `__init__.pyi`. Each is imported when it is first
used, so `import toolfmt` costs nothing that a program does not need.
"""

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; an unknown one raises AttributeError with similar names."""
    if name in __all__ or name.startswith("_"):
        return _load(name)
    from toolfmt.errors import close_names, did_you_mean

    hint = did_you_mean(close_names(name, {one.lower(): one for one in __all__}))
    raise AttributeError(f"module 'toolfmt' has no attribute {name!r}; {hint or 'dir(toolfmt) lists all'}")
