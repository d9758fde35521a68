"""Whether the tests notice when the code is changed: a sample of mutants of some files, each run against some tests.

    pip install cosmic-ray==8.7.0
    python -m fuzz.mutants toolfmt/schema --tests tests/unit/test_schema.py --sample 40

Works on a copy of the checkout. Prints each mutant that survives as a diff, and the share that was killed. A mutant
that changes nothing anybody could see also survives, so a share of 100 % is no aim.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db  # pyright: ignore[reportMissingImports]
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult  # pyright: ignore[reportMissingImports]

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """
[cosmic-ray]
module-path = {files}
timeout = {timeout}
test-command = "{python} -m pytest -n0 -q -x -p no:cacheprovider {tests}"

[cosmic-ray.distributor]
name = "local"
"""


def sampled(session: WorkDB, size: int, seed: int) -> None:
    """Leave out all mutants but a sample: what has a result is not run. `|` is nearly always an annotation's."""
    items = list(session.work_items)
    real = [number for number, item in enumerate(items) if "_BitOr_" not in item.mutations[0].operator_name]
    chosen = set(random.Random(seed).sample(real, min(size, len(real))))  # noqa: S311 - the same sample every time
    for number, item in enumerate(items):
        if number not in chosen:
            session.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def report(session: WorkDB) -> bool:
    """Print the survivors and the share of the killed; whether there were any mutants."""
    ran = [(item, result) for item, result in session.completed_work_items if result.test_outcome is not None]
    survivors = [result for _, result in ran if result.test_outcome == TestOutcome.SURVIVED]
    for result in survivors:
        print(result.diff, end="\n\n")
    print(f"{len(ran) - len(survivors)} of {len(ran)} mutants killed")
    return bool(ran)


def main() -> int:
    """Run the sample; 0 where at least one mutant ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", help="files or folders of the package to change")
    parser.add_argument("--tests", nargs="+", required=True, help="the tests that must notice")
    parser.add_argument("--sample", type=int, default=20, help="how many mutants are run")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that one run of the tests may take")
    parser.add_argument("--minutes", type=float, default=600, help="when to stop and report what has run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".*_cache", ".hypothesis", "__pycache__"))
        if (shared := ROOT.parent / "shared").is_dir():
            (Path(folder) / "shared").symlink_to(shared)
        config, session = Path(folder) / "config.toml", Path(folder) / "session.sqlite"
        values = {"python": sys.executable, "tests": " ".join(options.tests), "timeout": options.timeout}
        config.write_text(CONFIG.format(files=options.files, **values), encoding="utf-8")
        tests = [sys.executable, "-m", "pytest", "-n0", "-q", "-x", *options.tests]
        subprocess.run(tests, cwd=copy, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - unchanged, they must pass
        command = [sys.executable, "-m", "cosmic_ray.cli"]
        subprocess.run([*command, "init", str(config), str(session)], cwd=copy, check=True)  # noqa: S603
        with use_db(str(session)) as opened:
            sampled(opened, options.sample, options.seed)
        with suppress(subprocess.TimeoutExpired):
            run = [*command, "exec", str(config), str(session)]
            subprocess.run(run, cwd=copy, check=True, timeout=options.minutes * 60)  # noqa: S603
        with use_db(str(session)) as opened:
            return 0 if report(opened) else 1


if __name__ == "__main__":
    sys.exit(main())
