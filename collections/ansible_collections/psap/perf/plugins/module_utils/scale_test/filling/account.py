"""What came of filling a cluster: counts by kind, and what the API server refused, by kind and namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import SCHEMA as PROGRESS_SCHEMA

SCHEMA = "psap.perf/creation/1"
_SHOWN = 3


@dataclass(slots=True)
class Account:
    """Counts of objects by kind; *refusals* are the messages by kind and namespace, after which the rest of that kind
    was not sent there."""

    wanted: Counter[str] = field(default_factory=Counter)
    existed: Counter[str] = field(default_factory=Counter)
    created: Counter[str] = field(default_factory=Counter)
    refusals: dict[tuple[str, str | None], str] = field(default_factory=dict)
    namespaces: int = 0
    stopped: bool = False

    @property
    def missing(self) -> int:
        """How many are not there."""
        return self.wanted.total() - self.existed.total() - self.created.total()

    def sentence(self) -> str:
        """``480 of 500 ConfigMap objects created, 20 were there``."""
        kinds = " and ".join(self.wanted) or "no"
        text = f"{self.created.total()} of {self.wanted.total()} {kinds} objects created"
        existed = f", {self.existed.total()} were there" if self.existed else ""
        return f"{text}{existed}{f', {self.missing} are missing' if self.missing else ''}"

    def judge(self) -> None:
        """Raise what the command must fail with.

        :raises Interrupted: the user asked to stop.
        :raises ClusterError: the API server refused objects.
        """
        if self.refusals:
            shown = [f"{_place(scope)}: {message}" for scope, message in list(self.refusals.items())[:_SHOWN]]
            others = len(self.refusals) - len(shown)
            more = f"; and {others} more, which creation.json has" if others else ""
            raise ClusterError(f"{self.sentence()}; refused: {'; '.join(shown)}{more}")
        if self.stopped:
            raise Interrupted(f"interrupted: {self.sentence()}; the same command creates them")

    def kinds(self) -> dict[str, dict[str, int]]:
        """By kind, how many objects there are to be, were there, and were created."""
        return {
            kind: {"wanted": wanted, "existed": self.existed[kind], "created": self.created[kind]}
            for kind, wanted in self.wanted.items()
        }

    def document(self, requests: RequestCounts, elapsed_s: float) -> dict[str, Any]:
        """``creation.json``; *elapsed_s* are the seconds of the creation alone."""
        refused = [
            {"kind": kind, "namespace": namespace, "message": message}
            for (kind, namespace), message in self.refusals.items()
        ]
        return {
            "schema": SCHEMA,
            "namespaces": self.namespaces,
            "kinds": self.kinds(),
            "missing": self.missing,
            "refused": refused,
            "stopped": self.stopped,
            "seconds": round(elapsed_s, 3),
            "created_per_s": round(self.created.total() / elapsed_s, 1) if elapsed_s > 0 else None,
            "requests": requests.document(),
        }

    def progress(self, phase: str, per_s: float, times: Mapping[str, float]) -> dict[str, Any]:
        """``progress.json``; *per_s* is the rate of creation now."""
        done, wanted = self.existed.total() + self.created.total(), self.wanted.total()
        return {
            "schema": PROGRESS_SCHEMA,
            "phase": phase,
            "done": done,
            "of": wanted,
            "numbers": {
                "created": {"value": self.created.total(), "of": wanted - self.existed.total(), "per_s": per_s},
                "existed": {"value": self.existed.total()},
                "refused": {"value": len(self.refusals)},
            },
            **times,
            "summary": self.sentence() if phase == "done" else None,
        }


def _place(scope: tuple[str, str | None]) -> str:
    kind, namespace = scope
    return f"{kind} in {namespace}" if namespace else kind
