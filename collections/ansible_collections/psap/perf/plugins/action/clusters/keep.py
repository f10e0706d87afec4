# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.openshift.htpasswd import add_admin, check_user
from ansible_collections.psap.perf.plugins.module_utils.provisioning.keeping import (
    Commands,
    destroy_command,
    keep,
    login_command,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    ClusterRecord,
    Journal,
    read_record,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.plugin_utils.cluster_records import document_of, path_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    owner: str
    admin: str
    admin_password: str


class ActionModule(CommandAction):
    """Keep a cluster, and write the commands that use it."""

    RUNS_IN_CHECK_MODE = False

    def perform(self, context: VerbContext) -> VerbResult:
        """Mark the cluster as kept, then its record, then write the files."""
        path = path_of(context)
        record = read_record(path)
        if record is None or record.phase != CREATED:
            raise UsageError(f"{path} is not the record of a created cluster; only a created cluster can be kept")
        args = context.arguments(Arguments)
        password = context.secret(args.admin_password) if _has_admin(args) else ""
        commands = Commands(login_command(record, args.admin, args.admin_password), destroy_command(path, _site()))
        with closing(context.other_cluster(Access(record.kubeconfig))) as cluster:
            added = bool(args.admin) and add_admin(cluster, args.admin, password)
            changed = keep(cluster, record, args.owner, commands) or added
        journal = Journal(path, record)
        recorded = journal.note(keep=True)
        _write(context.directory / "artifacts", journal.record, commands)
        values = {"cluster": document_of(journal.record), "login": commands.login, "destroy": commands.destroy}
        return VerbResult(changed=changed or recorded, values=values)


def _has_admin(args: Arguments) -> bool:
    """Return whether an administrator is added.

    Raises:
        UsageError: If only one of name and password is set, or the name is invalid.
    """
    if bool(args.admin) != bool(args.admin_password):
        raise UsageError("set both admin and admin_password, a reference to a secret, or neither")
    return bool(args.admin) and bool(check_user(args.admin))


def _site() -> str:
    """Return the name of the site; empty if the run has several inventories."""
    sources = RunEnvironment.read().inventory
    return Path(sources[0]).name if len(sources) == 1 else ""


def _write(folder: Path, record: ClusterRecord, commands: Commands) -> None:
    write_text(folder / f"{record.host}_destroy_cluster.cmd", f"{commands.destroy}\n")
    if record.console:
        write_text(folder / f"{record.host}_console.link", f"{record.console}\n")
    if commands.login:
        write_text(folder / f"{record.host}_oc-login.cmd", f"{commands.login}\n")
