"""Lets the tests here import the templates that the chat templates' tests use."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "chat_templates"))
