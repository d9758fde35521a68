# The public names, each with its home: `__init__.py` loads what this file lists.

from .contracts import CallExecutor as CallExecutor
from .contracts import ModelClient as ModelClient
from .contracts import RunExecutor as RunExecutor
from .contracts import TextModel as TextModel
from .contracts import ToolServer as ToolServer
from .executor import Executor as Executor
from .hooks import AfterHook as AfterHook
from .hooks import BeforeHook as BeforeHook
from .hooks import Blocked as Blocked
from .hooks import Guard as Guard
from .hooks import ToolContext as ToolContext
from .policies.approval import Approval as Approval
from .policies.approval import ApprovalRequest as ApprovalRequest
from .policies.dangerous import CertaintyPolicy as CertaintyPolicy
from .policies.dangerous import ProvenancePolicy as ProvenancePolicy
from .policies.permissions import Permissions as Permissions
from .policies.policy import Candidate as Candidate
from .policies.policy import Policy as Policy
from .policies.project import ProjectBoundaries as ProjectBoundaries
from .policies.rate_limit import RateLimit as RateLimit
from .policies.schema import JsonPolicy as JsonPolicy
from .policies.schema import SchemaPolicy as SchemaPolicy
from .policies.workspace import Workspace as Workspace
from .records import AgentStop as AgentStop
from .records import FailureKind as FailureKind
from .records import PolicyError as PolicyError
from .records import ToolCallError as ToolCallError
from .records import ToolExecution as ToolExecution

__all__: list[str]  # noqa: PYI035 - `__init__.py` makes it of the names above
