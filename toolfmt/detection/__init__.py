r"""Detection of the dialect from the text alone.

    detect("<tool_call>\n<function=f>\n")        # qwen3-coder
    detect('<tool_call>\n{"name": "f"')          # hermes

See `docs/explanation/detection.md` for how it decides.
"""

from toolfmt.detection.detecting import detect, lookalikes
from toolfmt.detection.detector import Detector
from toolfmt.detection.others import other_calls
from toolfmt.detection.parser import DETECTED, DetectingParser
from toolfmt.detection.records import Detection, DialectMatch
from toolfmt.detection.table import DetectionTable, table

__all__ = [
    "DETECTED",
    "DetectingParser",
    "Detection",
    "DetectionTable",
    "Detector",
    "DialectMatch",
    "detect",
    "lookalikes",
    "other_calls",
    "table",
]
