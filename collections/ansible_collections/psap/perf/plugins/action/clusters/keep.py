# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.keeping import (
    Commands,
    destroy_command,
    keep,
    login_command,
)
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import (
    CREATED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.openshift.htpasswd import add_admin, check_user
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
        args = context.args
        password = context.secret(args["password"]) if _has_admin(args["admin"], args["password"]) else ""
        commands = Commands(login_command(record, args["admin"], args["password"]), destroy_command(path, _site()))
        with closing(context.other_cluster(Access(record.kubeconfig))) as cluster:
            added = bool(args["admin"]) and add_admin(cluster, args["admin"], password)
            changed = keep(cluster, record, args["owner"], commands) or added
        journal = Journal(path, record)
        noted = journal.note(keep=True)
        _write(context.directory / "artifacts", journal.record, commands)
        values = {"cluster": said_of(journal.record), "login": commands.login, "destroy": commands.destroy}
        return VerbResult(changed=changed or noted, values=values)


def _has_admin(user: str, reference: str) -> bool:
    """Whether there is to be an administrator, with name and password.

    :raises UsageError: when one of both is missing.
    """
    if bool(user) != bool(reference):
        raise UsageError("admin and its password, a reference to a secret, belong together: give both, or none")
    return bool(user) and bool(check_user(user))


def _site() -> str:
    """The site of this run, where it is one inventory."""
    sources = RunEnvironment.read().inventory
    return Path(sources[0]).name if len(sources) == 1 else ""


def _write(folder: Path, record: ClusterRecord, commands: Commands) -> None:
    write_text(folder / f"{record.host}_destroy_cluster.cmd", f"{commands.destroy}\n")
    if record.console:
        write_text(folder / f"{record.host}_console.link", f"{record.console}\n")
    if commands.login:
        write_text(folder / f"{record.host}_oc-login.cmd", f"{commands.login}\n")
