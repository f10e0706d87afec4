# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    CREATING,
    DESTROYED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.modules.clusters.record import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import begin, path_of, result_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    phase: str
    method: str | None
    keep: bool | None
    kubeconfig: str | None
    api: str | None
    console: str | None
    password_file: str | None
    password_user: str | None
    destruction: Mapping[str, Any]
    secrets: Mapping[str, str]


class ActionModule(PerfAction):
    """Read or write the record of a cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the record; in check mode, return what it would be."""
        args, path = context.arguments(Arguments), path_of(context)
        phase = args.phase
        former = read_record(path)
        if not phase:
            return result_of(path, former)
        if former is not None and former.phase == CREATED and phase == CREATING:
            return result_of(path, former)
        begun = former
        if begun is None or (begun.phase == DESTROYED and phase == CREATING):
            if phase != CREATING:
                raise UsageError(f"{path} is missing; record the cluster with phase creating before it is created")
            begun = begin(context, args.method)
        wanted = _with(begun, args)
        if context.check_mode:
            return result_of(path, wanted, changed=wanted != former)
        journal = Journal(path, former or wanted)
        changed = journal.note(**{name: getattr(wanted, name) for name in ClusterRecord.__dataclass_fields__})
        if phase == DESTROYED:
            journal.forget()
        return result_of(path, journal.record, changed=changed)


def _with(record: ClusterRecord, args: Arguments) -> ClusterRecord:
    """Return *record* with the fields that *args* set."""
    given = {"keep": args.keep, "kubeconfig": args.kubeconfig, "api": args.api, "console": args.console}
    password = {"file": args.password_file, "user": args.password_user}
    return replace(
        record,
        phase=args.phase,
        password=replace(record.password, **_without_none(password)),
        destruction={**record.destruction, **args.destruction},
        secrets={**record.secrets, **args.secrets},
        **_without_none(given),
    )


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
