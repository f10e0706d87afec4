# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import Amazon
from ansible_collections.psap.perf.plugins.module_utils.provisioning.efs import Efs, instances_of
from ansible_collections.psap.perf.plugins.modules.clusters.efs import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.installing import aws_keys
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_INFRASTRUCTURE = Query("config.openshift.io/v1", "Infrastructure", name="cluster")


@dataclass(frozen=True, slots=True)
class Arguments:
    state: Literal["present", "absent"]
    region: str
    credentials: str
    endpoint: str
    timeout: Seconds


class ActionModule(PerfAction):
    """Create or delete the file system."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Create or delete it; in check mode, find out whether it exists."""
        args = context.arguments(Arguments)
        efs = _efs_of(context, args)
        absent = args.state == "absent"
        if context.check_mode:
            identity = efs.find()
            return VerbResult(bool(identity) is absent, {"file_system": identity})
        with shown_wait(context.command_directory(), f"the file system {efs.name}", args.timeout) as show:
            if absent:
                changed = efs.undeploy(args.timeout, context.check_interrupted, show)
                return VerbResult(changed, {"file_system": ""})
            nodes, _version = context.cluster().list(Query("v1", "Node"))
            found = efs.deploy(instances_of(nodes), args.timeout, context.check_interrupted, show)
        values = {
            "file_system": found.identity,
            "security_group": found.security_group,
            "mount_targets": list(found.mount_targets),
        }
        return VerbResult(found.changed, values)


def _efs_of(context: VerbContext, args: Arguments) -> Efs:
    infrastructure = context.cluster().get(_INFRASTRUCTURE) or {}
    status = infrastructure.get("status") or {}
    region = args.region or ((status.get("platformStatus") or {}).get("aws") or {}).get("region")
    infra_id = status.get("infrastructureName")
    if not region or not infra_id:
        raise UsageError("Infrastructure/cluster names no AWS region; set region, and use a cluster on AWS")
    return Efs(Amazon(str(region), aws_keys(context, args.credentials), args.endpoint), str(infra_id))
