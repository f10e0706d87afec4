"""The gallery of reports: a page, and reports of synthetic runs, which are generated when the site is built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.data.fine_tuning_runs import matrix, write_tuning_run
from tests.data.load_tests import write_example
from tests.data.synthetic_queue import Shape
from tests.data.synthetic_runs import write_run

FOLDER = "gallery"


@dataclass(frozen=True)
class Example:
    """A report of the gallery; `write` writes its run below a folder and returns the run's directory.

    Attributes:
        exit_code: The report's exit code; 5 if the run lost workloads.
    """

    name: str
    title: str
    contents: str
    write: Callable[[Path], Path]
    exit_code: int = 0


class GalleryError(Exception):
    """A report cannot be generated."""


def _scale_test(folder: Path) -> Path:
    return write_run(folder, [Shape(workloads=300, nodes=100, everything=True)])


def _matrix(folder: Path) -> Path:
    variants = [("Job", 1, 150), ("Job", 1, 300), ("PyTorchJob", 2, 150), ("PyTorchJob", 2, 300)]
    shapes = [
        Shape(workloads=workloads, kind=kind, pods=pods, nodes=100, seed=seed)
        for seed, (kind, pods, workloads) in enumerate(variants)
    ]
    return write_run(folder, shapes)


def _failed(folder: Path) -> Path:
    return write_run(folder, [Shape(workloads=300, nodes=100, failing=0.04)], status="failed")


def _fine_tuning(folder: Path) -> Path:
    return write_tuning_run(folder, matrix())


def _load_test(folder: Path) -> Path:
    run = folder / "load_test"
    write_example(run)
    return run


EXAMPLES = (
    Example("scale_test", "Scale test", "300 workloads in three queues on 100 nodes, with preemption and churn, "
            "where each second goes, and the metrics of the control plane", _scale_test),
    Example("matrix", "Matrix of scale tests", "two kinds of workloads, each with two numbers of them, in comparison",
            _matrix),
    Example("failed", "Failed run", "the first failure in time, the log of its command, and what completed before",
            _failed),
    Example("fine_tuning", "Fine-tuning", "two models on one to eight GPUs, LoRA, and a job that ran out of memory",
            _fine_tuning),
    Example("load_test", "Load of served models", "two flavors of one model under six loads: latencies, throughput, "
            "goodput and cost", _load_test),
)  # fmt: skip


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ("# Gallery of reports", "")
    yield "All data of these reports is synthetic. A program computed it, and no test ran. Each report says so. The"
    yield "reports are files that open offline, as those of your runs."
    yield from ("", "| report | contents |", "|---|---|")
    for one in EXAMPLES:
        yield f'| <a href="{FOLDER}/{one.name}.html">{one.title}</a> | {one.contents} |'


def write_reports(folder: Path) -> None:
    """Write the report of each example to *folder*.

    Raises:
        GalleryError: A report cannot be generated.
    """
    folder.mkdir(parents=True)
    for one in EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="psap-perf-gallery-") as scratch:
            run, output = one.write(Path(scratch)), Path(scratch, "report")
            words = [sys.executable, "-m", "perfanalysis", "report", str(run), "--output", str(output)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode != one.exit_code:
                raise GalleryError(f"the report {one.name} of the gallery ended with {done.returncode}: {done.stderr}")
            shutil.copy(output / "index.html", folder / f"{one.name}.html")
