"""Tests that ask the providers' own SDKs, which the extra `dev` brings; `pytest tests_sdk` runs them.

They stand beside `tests`, because that folder needs the extra `test` alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "tests"
sys.path[:0] = [str(HERE), str(DATA / "transcripts"), str(DATA / "response_templates"), str(DATA / "chat_templates")]
settings.register_profile("sdk", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=30)
settings.load_profile("sdk")
