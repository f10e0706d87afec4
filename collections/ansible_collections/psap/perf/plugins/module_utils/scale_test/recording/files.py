"""The files of one recording, and the document about its circumstances and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Recorder, Scope

RECORDING_SCHEMA = "psap.perf/recording/1"
NODES_SCHEMA = "psap.perf/nodes/1"


@dataclass(frozen=True, slots=True)
class RecordingFiles:
    """The paths of the files of a recording."""

    folder: Path

    @property
    def recording(self) -> Path:
        """The circumstances of the recording and its end."""
        return self.folder / "recording.json"

    @property
    def submissions(self) -> Path:
        """One row for each workload."""
        return self.folder / "submissions.jsonl"

    @property
    def churn(self) -> Path:
        """One row for each workload that churn deleted; only with churn."""
        return self.folder / "churn.jsonl"

    @property
    def transitions(self) -> Path:
        """One row for each transition."""
        return self.folder / "transitions.jsonl"

    @property
    def events(self) -> Path:
        """One row for each Kubernetes event."""
        return self.folder / "events.jsonl"

    @property
    def nodes(self) -> Path:
        """The nodes and their GPUs at the start."""
        return self.folder / "nodes.json"

    @property
    def accounting(self) -> Path:
        """The results of all workloads."""
        return self.folder / "accounting.json"

    @property
    def samples(self) -> Path:
        """One row for each sample of the control plane's metrics."""
        return self.folder / "control_plane.jsonl"

    @property
    def control_plane(self) -> Path:
        """The scrapes of the control plane's metrics."""
        return self.folder / "control_plane.json"

    @property
    def progress(self) -> Path:
        """The progress of the test while it runs."""
        return self.folder / "progress.json"


@dataclass(slots=True)
class Recording:
    """The content of ``recording.json``, which is written at the start and again at the end."""

    run: str
    scopes: Sequence[Scope]
    clock: RunClock
    client: Mapping[str, Any]
    lab: Lab | None
    started_s: float
    synced_s: float | None = None
    ended_s: float | None = None
    ended_by: str | None = None
    error: str | None = None

    def write(self, files: RecordingFiles, recorder: Recorder, requests: RequestCounts) -> None:
        """Write the present state; *requests* are those of all clients."""
        counts = [recorded.watch.counts for recorded in recorder.watches]
        disturbances: Counter[str] = Counter()
        for count in counts:
            disturbances.update(count.causes)
        document = {
            "schema": RECORDING_SCHEMA,
            "run": self.run,
            "namespace": ", ".join(dict.fromkeys(scope.namespace for scope in self.scopes)),
            "workload_kind": ", ".join(dict.fromkeys(scope.resource.kind for scope in self.scopes)),
            "selector": self.scopes[0].selector,
            "started_s": self.started_s,
            "synced_s": self.synced_s,
            "ended_s": self.ended_s,
            "ended_by": self.ended_by,
            "error": self.error,
            "clock": {"utc_s": self.clock.utc_s, "monotonic_s": self.clock.monotonic_s},
            "resources": recorder.resources(),
            "not_watched": recorder.not_watched(),
            "client": {**self.client, "requests": requests.document()},
            "lab": self.lab.document() if self.lab else None,
            "reconnects": sum(count.reconnects for count in counts),
            "relists": sum(count.relists for count in counts),
            "disturbances": dict(sorted(disturbances.items())),
        }
        write_json(files.recording, document)
