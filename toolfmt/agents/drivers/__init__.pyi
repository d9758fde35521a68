# The public names, each with its home: `__init__.py` loads what this file lists.

from .asking import Patience as Patience
from .deciding import DecisionDriver as DecisionDriver
from .native import NativeDriver as NativeDriver
from .script import Script as Script
from .script import ScriptedDriver as ScriptedDriver
from .script import ScriptStep as ScriptStep
from .script import call as call
from .script import calls as calls
from .script import error as error
from .script import final as final
from .script import scripted as scripted
from .script import tool as tool
from .text import TextDriver as TextDriver

__all__: list[str]  # noqa: PYI035 - `__init__.py` makes it of the names above
