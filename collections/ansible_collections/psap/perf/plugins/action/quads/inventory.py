# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import replacing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import look
from ansible_collections.psap.perf.plugins.module_utils.quads.inventory import (
    Network,
    Part,
    jetlag,
    machines,
    nodes_of,
    plain,
    unknown,
)
from ansible_collections.psap.perf.plugins.modules.quads.inventory import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

FILES = {"hosts": "hosts.yml", "jetlag": "jetlag.local"}


class ActionModule(PerfAction):
    """Write inventories."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Which files."""
        return f"would write {', '.join(FILES[each] for each in context.args['formats'])}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write them, by the rows of the assignment: a cloud may hold hosts of whoever had it before."""
        args = context.args
        parts, unknowns = [], []
        for one in bookings(context, writes=False):
            delivery = look(one.quads, one.record, one.record.hosts)
            if not delivery.hosts:
                raise UsageError(f"the booking {one.record.mark} has no hosts")
            address = args["ocpinv"].replace("{cloud}", delivery.assignment.cloud)
            nodes = nodes_of(one.quads.connection.fetch(address)) if address else []
            parts.append(Part(machines(delivery.hosts, nodes), delivery.assignment, delivery.lease))
            unknowns.append(unknown(parts[-1].found, nodes, address) if address else "")
        if len(parts) > 1 and "jetlag" in args["formats"]:
            raise UsageError(
                f"the hosts are in {len(parts)} clouds, each a network of its own, and jetlag installs in one: "
                "leave jetlag out of the formats"
            )
        folder = Path(args["folder"]).expanduser() if args["folder"] else context.directory / "artifacts"
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for form in args["formats"]:
            text = (
                plain(parts, args["bmc_user"])
                if form == "hosts"
                else jetlag(parts[0].found, _network(args), args["controlplanes"], args["bmc_user"])
            )
            path = folder / FILES[form]
            with replacing(path) as stream:
                stream.write(text)
            files[form] = str(path)
        return VerbResult(values={"files": files}, warnings=tuple(filter(None, unknowns)))


def _network(args: Any) -> Network:
    names = ("network", "interface", "interface_name", "lab_interface", "install_disk")
    return Network(*(args[name] for name in names))
