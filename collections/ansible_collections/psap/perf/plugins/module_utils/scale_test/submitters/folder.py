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

# how a process ended by itself
ALL_SENT = "all sent"
STOPPED = "stopped"
FAILED = "error"


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the coordinator writes."""

    path: Path

    @property
    def plan(self) -> Path:
        """What to submit."""
        return self.path / "plan.json"

    @property
    def go(self) -> Path:
        """When it begins."""
        return self.path / "go.json"

    @property
    def stop(self) -> Path:
        """Exists when no more is to be sent."""
        return self.path / "stop"

    def of(self, number: int) -> OwnFolder:
        """The folder of one process."""
        return OwnFolder(self.path / f"{number:02d}")


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """Where one process writes."""

    path: Path

    @property
    def ready(self) -> Path:
        """That it can begin."""
        return self.path / "ready.json"

    @property
    def sending(self) -> Path:
        """What it was about to send."""
        return self.path / "sending.jsonl"

    @property
    def submissions(self) -> Path:
        """What was answered."""
        return self.path / "submissions.jsonl"

    @property
    def progress(self) -> Path:
        """How far it is."""
        return self.path / "progress.json"

    @property
    def done(self) -> Path:
        """How it ended."""
        return self.path / "done.json"

    @property
    def log(self) -> Path:
        """Its standard error."""
        return self.path / "log.txt"


def ready_document(number: int, clock: RunClock, *, shared: bool) -> dict[str, Any]:
    """``ready.json``: who is ready, and by which clock; *shared* when it is the coordinator's own.

    ``wall_offset_s`` is how far the machine's wall clock is ahead of that clock: what it was stepped by since.
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
    """Let all begin at *at_s*, in seconds since the epoch, UTC."""
    write_json(folder.go, {"schema": GO_SCHEMA, "at_s": at_s})


def read_go(folder: Folder) -> float | None:
    """When to begin; None as long as nobody said so."""
    return float(read_json(folder.go)["at_s"]) if folder.go.exists() else None


@dataclass(frozen=True, slots=True)
class Standing:
    """``progress.json``, and at the end ``done.json``: how far a process is, and what ended it (None: it goes on)."""

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
    ) -> Standing:
        """How things stand with process *number*."""
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
    def read(cls, path: Path) -> Standing | None:
        """The document in *path*; None when there is none yet."""
        if not path.exists():
            return None
        given = read_json(path)
        met = given["requests"]
        return cls(
            submitter=given["submitter"],
            at_s=given["at_s"],
            sent=given["sent"],
            answered=given["answered"],
            refused=given["refused"],
            requests=RequestCounts(Counter(met["answers"]), Counter(met["retries"])),
            ended_by=given["ended_by"],
            error=given["error"],
        )
