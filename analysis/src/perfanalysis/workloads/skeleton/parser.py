"""Read the files of the command skeleton_start_pods."""

from __future__ import annotations

from typing import Any

from msgspec import convert

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kubernetes_objects.model import Item, Stamps
from perfanalysis.workloads.kubernetes_objects.pods import pod_row


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each pod of pod.yml, and the measurement of skeleton.yml."""
    stamps = Stamps()
    pods = [pod_row(convert(one, Item), stamps) for one in source.records("pod.yml")]
    for pod in pods:
        begun, created = pod["running_s"], pod["created_s"]
        pod["running_after_s"] = None if begun is None or created is None else begun - created
    return {"pods": pods, "tests": list(source.records("skeleton.yml"))}
