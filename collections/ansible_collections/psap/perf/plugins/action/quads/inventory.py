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
    jetlag,
    machines,
    nodes_of,
    plain,
    unknown,
)
from ansible_collections.psap.perf.plugins.modules.quads.inventory import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import booking
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
        one = booking(context, writes=False)
        delivery = look(one.quads, one.record, one.record.hosts)
        if not delivery.hosts:
            raise UsageError(f"the booking {one.record.mark} has no hosts")
        address = args["ocpinv"].replace("{cloud}", delivery.assignment.cloud)
        nodes = nodes_of(one.quads.connection.fetch(address)) if address else []
        found = machines(delivery.hosts, nodes)
        fallback = unknown(found, nodes, address) if address else ""
        folder = Path(args["folder"]).expanduser() if args["folder"] else context.directory / "artifacts"
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for form in args["formats"]:
            text = (
                plain(found, delivery.assignment, delivery.lease, args["bmc_user"])
                if form == "hosts"
                else jetlag(found, _network(args), args["controlplanes"], args["bmc_user"])
            )
            path = folder / FILES[form]
            with replacing(path) as stream:
                stream.write(text)
            files[form] = str(path)
        return VerbResult(values={"files": files}, warnings=(fallback,) if fallback else ())


def _network(args: Any) -> Network:
    names = ("network", "interface", "interface_name", "lab_interface", "install_disk")
    return Network(*(args[name] for name in names))
