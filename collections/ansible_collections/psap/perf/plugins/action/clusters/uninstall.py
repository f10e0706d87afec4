# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import shutil
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import check_infra_id, tagged
from ansible_collections.psap.perf.plugins.module_utils.provisioning.ocp import (
    DESTROY,
    destroy,
    destroy_by_metadata,
    tag_metadata,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord, default_folder
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import DestroyAction
from ansible_collections.psap.perf.plugins.plugin_utils.installing import (
    PROGRAM,
    InstallerArguments,
    aws_keys,
    installer_in,
    installer_of,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments(InstallerArguments):
    tag: str
    region: str
    endpoint: str
    timeout: Seconds


class ActionModule(DestroyAction):
    """Destroy a cluster."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Destroy the cluster of the record, or of a tag; in check mode, find out whether it may exist."""
        args = context.arguments(Arguments)
        if args.tag:
            return _destroy_tagged(context, args)
        return super().perform(context)

    def destroy(self, context: VerbContext, record: ClusterRecord) -> None:
        """Run the installer if the creation has begun, so that there may be resources."""
        args = context.arguments(Arguments)
        with shown_wait(context.command_directory(), f"the end of {record.name}", args.timeout) as show:
            if record.destruction.get("metadata"):
                destroy(installer_of(context, record, show), record, args.timeout)


def _destroy_tagged(context: VerbContext, args: Arguments) -> VerbResult:
    """Destroy the resources that have the tag, if any."""
    infra_id, region = check_infra_id(args.tag), args.region
    if not region:
        raise UsageError("tag needs a region: set region to the cluster's")
    resources = tagged(infra_id, region, aws_keys(context, args.credentials), args.endpoint)
    listing = context.directory / "artifacts" / "resources.txt"
    listing.parent.mkdir(exist_ok=True)
    write_text(listing, "".join(f"{name}\n" for name in resources))
    values = {"resources": resources, "record": "", "cluster": {}}
    if context.check_mode or not resources:
        return VerbResult(changed=bool(resources), values=values)
    # a fixed path, so that a repeated command removes the credentials of a killed one
    folder = default_folder() / "by-tag" / infra_id
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with shown_wait(context.command_directory(), f"the end of {infra_id}", args.timeout) as show:
            installer = installer_in(context, folder, args.program or PROGRAM, args.credentials, show)
            destroy_by_metadata(installer, folder / DESTROY, tag_metadata(infra_id, region), args.timeout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return VerbResult(changed=True, values=values)
