"""The search through the parsers that atheris guides: it keeps what reaches new code."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, cast

LONGEST = 4_096


def guided(seconds: int, seed: int) -> None:
    """Let atheris look for inputs; it ends the process itself."""
    import atheris

    from bench.traps import UNITS

    with cast("Any", atheris).instrument_imports(include=["toolfmt"]):
        from fuzz.texts import check, seeds
    found = Path(tempfile.mkdtemp(prefix="fuzz-"))
    words = found / "words"
    units = (unit.encode("utf-8", "surrogatepass") for unit in UNITS)
    words.write_text("\n".join('"' + "".join(f"\\x{byte:02x}" for byte in unit) + '"' for unit in units), "ascii")
    (found / "corpus").mkdir()
    for name, data in seeds():
        (found / "corpus" / name).write_bytes(data)
    arguments = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=20", f"-dict={words}"]
    arguments += [f"-seed={seed + 1}"]  # 0 would be another one each time
    arguments += [f"-artifact_prefix={found}/", "-verbosity=0", str(found / "corpus")]
    atheris.Setup([sys.argv[0], *arguments], check)
    atheris.Fuzz()
