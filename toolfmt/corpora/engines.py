"""What runs the work: this machine, or a cluster. Both give the same batches in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from toolfmt.corpora.local import mapped
from toolfmt.corpora.work import Done, Job, convert_batch


def local(job: Job) -> Iterator[Done]:
    """Run on this machine, in `jobs` processes."""
    return mapped(partial(convert_batch, job.work), job.reading.all(job.sources, job.start), job.jobs)


def ray(job: Job) -> Iterator[Done]:
    """Run on a Ray cluster, which is started here if there is none."""
    from toolfmt.corpora.cluster import run

    return run(job)


ENGINES: Final[Mapping[str, Callable[[Job], Iterator[Done]]]] = MappingProxyType({"local": local, "ray": ray})
