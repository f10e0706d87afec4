"""The results of filling a cluster: counts by kind, and the API server's refusals by kind and namespace."""

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
    """Counts of objects by kind, and *refusals*, each a message that ended the creation of a kind in a namespace."""

    wanted: Counter[str] = field(default_factory=Counter)
    existed: Counter[str] = field(default_factory=Counter)
    created: Counter[str] = field(default_factory=Counter)
    refusals: dict[tuple[str, str | None], str] = field(default_factory=dict)
    namespaces: int = 0
    stopped: bool = False

    @property
    def missing(self) -> int:
        """The number of missing objects."""
        return self.wanted.total() - self.existed.total() - self.created.total()

    def sentence(self) -> str:
        """Return a summary such as ``480 of 500 ConfigMap objects created, 20 existed``."""
        kinds = " and ".join(self.wanted) or "no"
        text = f"{self.created.total()} of {self.wanted.total()} {kinds} objects created"
        existed = f", {self.existed.total()} existed" if self.existed else ""
        return f"{text}{existed}{f', {self.missing} are missing' if self.missing else ''}"

    def judge(self) -> None:
        """Raise an error unless all objects were created.

        Raises:
            Interrupted: The user interrupted the run.
            ClusterError: The API server refused objects.
        """
        if self.refusals:
            shown = [f"{_place(scope)}: {message}" for scope, message in list(self.refusals.items())[:_SHOWN]]
            others = len(self.refusals) - len(shown)
            more = f"; and {others} more in creation.json" if others else ""
            raise ClusterError(f"{self.sentence()}; refused: {'; '.join(shown)}{more}")
        if self.stopped:
            raise Interrupted(f"interrupted: {self.sentence()}; the same command creates them")

    def kinds(self) -> dict[str, dict[str, int]]:
        """Return by kind the numbers of objects that are wanted, existed, and were created."""
        return {
            kind: {"wanted": wanted, "existed": self.existed[kind], "created": self.created[kind]}
            for kind, wanted in self.wanted.items()
        }

    def document(self, requests: RequestCounts, elapsed_s: float) -> dict[str, Any]:
        """Return the content of ``creation.json``; *elapsed_s* are the seconds of the creation alone."""
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
        """Return the content of ``progress.json``; *per_s* is the present rate of creation."""
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
