# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import replacing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import read_delivery
from ansible_collections.psap.perf.plugins.module_utils.quads.inventory import (
    Network,
    Part,
    jetlag,
    machines,
    nodes_of,
    plain,
    unknown,
)
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


class Format(StrEnum):
    HOSTS = "hosts"
    JETLAG = "jetlag"


FILES = {Format.HOSTS: "hosts.yml", Format.JETLAG: "jetlag.local"}


@dataclass(frozen=True, slots=True)
class Arguments:
    formats: tuple[Format, ...]
    folder: str
    ocpinv: str
    bmc_user: str
    controlplanes: int
    network: str
    interface: int
    interface_name: str
    lab_interface: str
    install_disk: str


class ActionModule(CommandAction):
    """Write inventories."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return which files would be written."""
        return f"would write {', '.join(FILES[each] for each in context.arguments(Arguments).formats)}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the hosts of the assignment; its cloud may also contain hosts of an earlier assignment."""
        args = context.arguments(Arguments)
        parts, unknowns = [], []
        for one in bookings(context, writes=False):
            delivery = read_delivery(one.quads, one.record, one.record.hosts)
            if not delivery.hosts:
                raise UsageError(f"the booking {one.record.mark} has no hosts")
            address = args.ocpinv.replace("{cloud}", delivery.assignment.cloud)
            nodes = nodes_of(one.quads.connection.fetch(address)) if address else []
            parts.append(Part(machines(delivery.hosts, nodes), delivery.assignment, delivery.reservation))
            unknowns.append(unknown(parts[-1].found, nodes, address) if address else "")
        if len(parts) > 1 and Format.JETLAG in args.formats:
            raise UsageError(
                f"the hosts are in {len(parts)} clouds with separate networks, and jetlag installs in one: "
                "remove jetlag from the formats"
            )
        folder = Path(args.folder).expanduser() if args.folder else context.directory / "artifacts"
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for form in args.formats:
            text = (
                plain(parts, args.bmc_user)
                if form is Format.HOSTS
                else jetlag(parts[0].found, _network(args), args.controlplanes, args.bmc_user)
            )
            path = folder / FILES[form]
            with replacing(path) as stream:
                stream.write(text)
            files[form.value] = str(path)
        return VerbResult(values={"files": files}, warnings=tuple(filter(None, unknowns)))


def _network(args: Arguments) -> Network:
    return Network(args.network, args.interface, args.interface_name, args.lab_interface, args.install_disk)
