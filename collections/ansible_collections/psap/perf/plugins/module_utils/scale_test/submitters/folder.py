"""The folder of the protocol, and the small documents in it."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import SubmissionCounts

READY_SCHEMA = "psap.perf/submitter-ready/1"
GO_SCHEMA = "psap.perf/submitter-go/1"
PROGRESS_SCHEMA = "psap.perf/submitter-progress/1"

# reasons for the end of a process
ALL_SENT = "all sent"
STOPPED = "stopped"
FAILED = "error"


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of the coordinator."""

    path: Path

    @property
    def plan(self) -> Path:
        """The plan of the submission."""
        return self.path / "plan.json"

    @property
    def go(self) -> Path:
        """The time of the start."""
        return self.path / "go.json"

    @property
    def stop(self) -> Path:
        """Exists when no more workloads are to be sent."""
        return self.path / "stop"

    def of(self, number: int) -> OwnFolder:
        """Return the folder of one process."""
        return OwnFolder(self.path / f"{number:02d}")


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """The folder of one process."""

    path: Path

    @property
    def ready(self) -> Path:
        """Exists when the process is ready to start."""
        return self.path / "ready.json"

    @property
    def sending(self) -> Path:
        """The announced requests."""
        return self.path / "sending.jsonl"

    @property
    def submissions(self) -> Path:
        """The answered requests."""
        return self.path / "submissions.jsonl"

    @property
    def progress(self) -> Path:
        """The present status."""
        return self.path / "progress.json"

    @property
    def done(self) -> Path:
        """The final status."""
        return self.path / "done.json"

    @property
    def clock(self) -> Path:
        """The offset of the clock of a process in a pod."""
        return self.path / "clock.json"

    @property
    def log(self) -> Path:
        """Its standard error."""
        return self.path / "log.txt"


def ready_document(number: int, clock: RunClock, *, shared: bool) -> dict[str, Any]:
    """Return the content of ``ready.json``.

    ``wall_offset_s`` is how far the wall clock is ahead of *clock*: by how much it has been changed since.

    Args:
        shared: Whether *clock* is the coordinator's clock.
    """
    return {
        "schema": READY_SCHEMA,
        "submitter": number,
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "clock": {"utc_s": clock.utc_s, "monotonic_s": clock.monotonic_s, "shared": shared},
        "wall_offset_s": round(time.time() - clock.now(), 6),
        "at_s": clock.now(),
    }


def write_go(folder: Folder, at_s: float) -> None:
    """Start all processes at *at_s*, in seconds since the epoch, UTC."""
    write_json(folder.go, {"schema": GO_SCHEMA, "at_s": at_s})


def read_go(folder: Folder) -> float | None:
    """Return the time of the start; None until it is set."""
    return float(read_json(folder.go)["at_s"]) if folder.go.exists() else None


@dataclass(frozen=True, slots=True)
class SubmitterStatus:
    """The content of ``progress.json`` and ``done.json``: a process's counts, and its end (None while it runs)."""

    submitter: int
    at_s: float
    sent: int
    answered: int
    refused: int
    requests: RequestCounts
    ended_by: str | None = None
    error: str | None = None

    @classmethod
    def now(
        cls,
        number: int,
        clock: RunClock,
        counts: SubmissionCounts,
        requests: RequestCounts,
        ended_by: str | None = None,
        error: str | None = None,
    ) -> SubmitterStatus:
        """Return the present status of process *number*."""
        return cls(number, clock.now(), counts.sent, counts.answered, counts.refused, requests, ended_by, error)

    def write(self, path: Path) -> None:
        """Write the document."""
        write_json(
            path,
            {
                "schema": PROGRESS_SCHEMA,
                "submitter": self.submitter,
                "at_s": self.at_s,
                "sent": self.sent,
                "answered": self.answered,
                "refused": self.refused,
                "requests": self.requests.document(),
                "ended_by": self.ended_by,
                "error": self.error,
            },
        )

    @classmethod
    def read(cls, path: Path) -> SubmitterStatus | None:
        """Return the document in *path*; None if it does not exist yet."""
        if not path.exists():
            return None
        document = read_json(path)
        requests = document["requests"]
        return cls(
            submitter=document["submitter"],
            at_s=document["at_s"],
            sent=document["sent"],
            answered=document["answered"],
            refused=document["refused"],
            requests=RequestCounts(Counter(requests["answers"]), Counter(requests["retries"])),
            ended_by=document["ended_by"],
            error=document["error"],
        )
