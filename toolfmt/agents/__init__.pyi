# The public names, each with its home: `__init__.py` loads what this file lists.

from .bus import Bus as Bus
from .compilers import Compiler as Compiler
from .compilers import all_sections as all_sections
from .compilers import current_trace as current_trace
from .compilers import sections as sections
from .compilers import window as window
from .drivers import DecisionDriver as DecisionDriver
from .drivers import NativeDriver as NativeDriver
from .drivers import Patience as Patience
from .drivers import ScriptedDriver as ScriptedDriver
from .drivers import TextDriver as TextDriver
from .drivers import scripted as scripted
from .guards import Breaker as Breaker
from .guards import Budget as Budget
from .loop import AgentLoop as AgentLoop
from .loop import StopRule as StopRule
from .loop import as_tool as as_tool
from .messages import results_text as results_text
from .messages import to_messages as to_messages
from .messages import write_messages as write_messages
from .runtime import Driver as Driver
from .runtime import Outcome as Outcome
from .runtime import Runtime as Runtime
from .runtime import Visible as Visible
from .state import AgentFailedError as AgentFailedError
from .state import AgentState as AgentState
from .state import Pending as Pending
from .state import Run as Run
from .state import Status as Status
from .state import Step as Step
from .waiting import Answered as Answered
from .waiting import Approved as Approved
from .waiting import Decision as Decision
from .waiting import Denied as Denied

__all__: list[str]  # noqa: PYI035 - `__init__.py` makes it of the names above
