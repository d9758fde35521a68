"""Speak the tool-call formats of language models: show tools, read calls, write both.

The public names are listed in `__init__.pyi`. Each is imported when it is first
used, so `import toolfmt` costs nothing that a program does not need.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
