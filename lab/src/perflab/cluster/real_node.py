"""The real node of a lab, as other parts of the lab recognize it."""

from __future__ import annotations

from pathlib import Path

NAME = "worker-0"
# label of the node, and key of its taint: only pods that select the one and tolerate the other land there
REAL = "lab.psap.perf/real"


def volumes_folder(lab: Path) -> Path:
    """Return the folder of the contents of the node's volumes, one folder for each, in the folder of a lab."""
    return lab / "worker" / "volumes"
