"""Find the workload that a related object belongs to: a pod group, a volume claim, Kueue's Workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import labelled_workload


@dataclass(frozen=True, slots=True)
class Attribution:
    """How a workload is found from what belongs to it.

    *workload_in* finds the workload in a name; with *closed* it knows every workload that counts (a submission of
    ours), else whatever a label or an owner of one of *kinds* names is believed.
    """

    workload_in: Callable[[str], str | None]
    kinds: frozenset[str]
    closed: bool

    def of(self, metadata: Mapping[str, Any], workload_of_uid: Callable[[str], str | None]) -> str | None:
        """The workload of an object with this metadata, or None when it belongs to none that counts.

        *workload_of_uid* knows the objects seen so far; watches of other kinds may be behind, hence the names.
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
