# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import (
    CREATED,
    CREATING,
    DESTROYED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.modules.clusters.record import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import begin, path_of, said_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Note what is known of a cluster."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the record; in check mode say what it would be."""
        path, phase = path_of(context), context.args["phase"]
        former = read_record(path)
        if not phase:
            return _result(str(path), former, changed=False)
        if former is not None and former.phase == CREATED and phase == CREATING:
            return _result(str(path), former, changed=False)
        begun = former
        if begun is None or (begun.phase == DESTROYED and phase == CREATING):
            if phase != CREATING:
                raise UsageError(f"{path} is not there: a cluster is noted before it is created")
            begun = begin(context, context.args["method"])
        wanted = _with(begun, context.args)
        if context.check_mode:
            return _result(str(path), wanted, changed=wanted != former)
        journal = Journal(path, former or wanted)
        changed = journal.note(**{name: getattr(wanted, name) for name in ClusterRecord.__dataclass_fields__})
        if phase == DESTROYED:
            journal.forget()
        return _result(str(path), journal.record, changed=changed)


def _with(record: ClusterRecord, args: Mapping[str, Any]) -> ClusterRecord:
    """*record* with what *args* say of it."""
    said = {name: args[name] for name in ("keep", "kubeconfig", "api", "console") if args[name] is not None}
    password = {name: args[f"password_{name}"] for name in ("file", "user") if args[f"password_{name}"] is not None}
    return replace(
        record,
        phase=args["phase"],
        password=replace(record.password, **password),
        destruction={**record.destruction, **args["destruction"]},
        secrets={**record.secrets, **args["secrets"]},
        **said,
    )


def _result(path: str, record: ClusterRecord | None, changed: bool) -> VerbResult:
    return VerbResult(changed=changed, values={"record": path, "cluster": said_of(record)})
