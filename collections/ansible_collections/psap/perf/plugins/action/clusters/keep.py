# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.access import Access
from ansible_collections.psap.perf.plugins.module_utils.clusters.keeping import destroy_command, keep, login_command
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import (
    CREATED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.modules.clusters.keep import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.clusters import path_of, said_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Keep it, and say how it is used."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def perform(self, context: VerbContext) -> VerbResult:
        """Say so in the cluster, then in the record, then in files."""
        path = path_of(context)
        record = read_record(path)
        if record is None or record.phase != CREATED:
            raise UsageError(f"{path} is not the record of a cluster that is there, so there is nothing to keep")
        destroy = destroy_command(path, _site())
        with closing(context.other_cluster(Access(record.kubeconfig))) as cluster:
            changed = keep(cluster, record, context.args["owner"], destroy)
        journal = Journal(path, record)
        noted = journal.note(keep=True)
        _write(context.directory / "artifacts", journal.record, destroy)
        return VerbResult(changed=changed or noted, values={"cluster": said_of(journal.record), "destroy": destroy})


def _site() -> str:
    """The site of this run, where it is one inventory."""
    sources = RunEnvironment.read().inventory
    return Path(sources[0]).name if len(sources) == 1 else ""


def _write(folder: Path, record: ClusterRecord, destroy: str) -> None:
    login = login_command(record)
    write_text(folder / f"{record.host}_destroy_cluster.cmd", f"{destroy}\n")
    if record.console:
        write_text(folder / f"{record.host}_console.link", f"{record.console}\n")
    if login:
        write_text(folder / f"{record.host}_oc-login.cmd", f"{login}\n")
