# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.provisioning.plan import created, missing, plan
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord, read_records
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from ansible_collections.psap.perf.plugins.modules.clusters.plan import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_ROLES = Path(__file__).resolve().parents[3] / "roles"


@dataclass(frozen=True, slots=True)
class Arguments:
    methods: Mapping[str, str]
    differing: Mapping[str, Mapping[str, Any]]
    installs: bool
    keeps: bool


class ActionModule(PerfAction):
    """Find out which clusters the run creates, and which exist."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Plan the clusters of the run."""
        args = context.arguments(Arguments)
        root = RunEnvironment.read().root
        records = read_records(root)
        creations = plan(args.methods, args.differing, records, _arguments_of)
        access = list(_access(records))
        # without its kubeconfig, commands would use the cluster of the site instead
        unusable = created(records).keys() - {each["host"] for each in access}
        only_cleans = {CLEANUP, CONCLUDE}.issuperset(context.variables["ansible_run_tags"])
        released = args.installs and (not args.keeps or not _was_reached(root))
        destroyed = released or any(each.host == context.host and not each.kept for each in creations)
        return VerbResult(
            values={
                "creations": [asdict(each) for each in creations],
                "access": access,
                "missing": [*missing(creations), *([context.host] if args.installs and context.check_mode else [])],
                "unusable": sorted(unusable),
                "leaving": only_cleans and destroyed,
            }
        )


def _was_reached(run: Path) -> bool:
    """Return whether any attempt at the run reached its cluster."""
    path = run / RUN_FILE
    return path.exists() and bool(read_json(path).get("cluster"))


def _access(records: list[ClusterRecord]) -> Iterator[dict[str, str]]:
    for host, record in created(records).items():
        try:
            yield {"host": host, **Access(record.kubeconfig).variables()}
        except PerfError:
            # it may still be destroyed; commands that use it fail with a message
            continue


def _arguments_of(method: str) -> frozenset[str]:
    role = _ROLES / f"cluster_create_{method}"
    if not role.is_dir():
        raise UsageError(f"unknown command cluster_create_{method}")
    return frozenset(each.short_name for each in read_command(role, role).arguments)
