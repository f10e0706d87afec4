"""Find the workload that a related object belongs to: a pod group, a volume claim, Kueue's Workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import labelled_workload


@dataclass(frozen=True, slots=True)
class Attribution:
    """The rules by which the workload of an object is found.

    Attributes:
        workload_in: Finds the workload in a name.
        kinds: Kinds of owners that are workloads.
        closed: Whether *workload_in* finds every relevant workload (those of a submission); if not, each name in a
            label or of an owner is accepted.
    """

    workload_in: Callable[[str], str | None]
    kinds: frozenset[str]
    closed: bool

    def of(self, metadata: Mapping[str, Any], workload_of_uid: Callable[[str], str | None]) -> str | None:
        """Return the workload of an object with this metadata, or None without a relevant one.

        Args:
            workload_of_uid: Returns the workload of an object that was seen before. Watches of other kinds may be
                behind; names are used, too.
        """
        named = labelled_workload(metadata)
        owners = metadata.get("ownerReferences") or ()
        if named is None:
            named = next((str(owner["name"]) for owner in owners if owner.get("kind") in self.kinds), None)
        counted = self.workload_in(named) if named is not None and self.closed else named
        if counted is not None:
            return counted
        for owner in owners:
            found = workload_of_uid(str(owner.get("uid"))) or self.workload_in(str(owner.get("name")))
            if found:
                return found
        return self.workload_in(str(metadata.get("name")))
