"""Generated working directories of the scale-test-tool: the known format of its files, with random times."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

BEGAN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
SAMPLED_KEYS = (
    "workloadCreatedTimestamp",
    "jobCreatedTimestamp",
    "firstPodCreatedTimestamp",
    "lastPodCreatedTimestamp",
    "podGroupCreatedTimestamp",
    "podSchedulingDecisionTimestamp",
    "firstEvictionTimestamp",
    "firstPVCBindRequestTimestamp",
    "firstPVCBindTimestamp",
    "backendJobCreatedTimestamp",
)
CLIENT_FORM = {"firstPodCreatedTimestamp", "lastPodCreatedTimestamp", "podSchedulingDecisionTimestamp"}


def submission(name: str, seconds: float) -> dict[str, Any]:
    """Return a record of submitted.json, sent so many seconds after BEGAN."""
    moment = BEGAN + timedelta(seconds=seconds)
    return {**_identity(name), "submitTimestamp": moment.isoformat()}


def sample(name: str, *seconds: int, **more: Any) -> dict[str, Any]:
    """Return a record of sampled.json: workload, job, first and last pod, pod group, scheduled; others are derived."""
    workload, job, first, last, group, scheduled = seconds
    moments = (workload, job, first, last, group, scheduled, scheduled, scheduled, scheduled, workload)
    stamps = {
        key: (BEGAN + timedelta(seconds=moment)).isoformat() for key, moment in zip(SAMPLED_KEYS, moments, strict=True)
    }
    zoned = {key: text if key in CLIENT_FORM else text.replace("+00:00", "Z") for key, text in stamps.items()}
    return {**_identity(name), **zoned, **more}


def _identity(name: str) -> dict[str, str]:
    return {"jobName": name, "jobNamespace": "runai-project-0", "projectName": "project-0"}


def write(directory: Path, sent: list[dict[str, Any]] | None, seen: list[dict[str, Any]] | None) -> Path:
    """Write the given files."""
    directory.mkdir(exist_ok=True)
    for name, records in (("submitted.json", sent), ("sampled.json", seen)):
        if records is not None:
            (directory / name).write_text(json.dumps(records))
    return directory


def make(directory: Path, workloads: int, seed: int, *, orphans: int = 2, lost: int = 1, old: float = 0.05) -> Path:
    """Generate a test: a share `old` of pod groups is too old, `orphans` were not submitted, `lost` never sampled."""
    random = np.random.default_rng(seed)
    sent, seen = [], []
    for number in range(workloads + orphans):
        begin = number / 5 + float(random.uniform(0, 0.001))
        chain = np.cumsum(random.exponential((0.6, 1.2, 0.8, 1.5), 4)) + begin
        group = chain[2] + random.exponential(0.7) if random.random() >= old else chain[2] - 30
        times = (*chain, group, group + random.exponential(3.0))
        name = f"j-{number:06x}"
        if number < workloads:
            sent.append(submission(name, round(begin, 6)))
        if not workloads - lost <= number < workloads:
            seen.append(sample(name, *(int(np.floor(moment)) for moment in times)))
    random.shuffle(seen)
    return write(directory, sent, seen)


if __name__ == "__main__":
    # For benchmarks: the folder, and the number of workloads
    place, size = sys.argv[1:]
    print(make(Path(place), int(size), seed=1))
