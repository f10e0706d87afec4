# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: run_directory
type: aggregate
short_description: Write the run directory
version_added: 0.1.0
description:
  - Creates the run directory, or uses the one in E(PERF_RUN_DIR), and locks it while the playbook runs.
  - Writes C(run.json), C(ansible.log), C(timeline.csv), C(failures.jsonl), and for each command C(status.json) and
    C(FAILURE).
  - Renews the Lease of a cluster that a verb acquired, and releases it at the end of the run.
  - Watches the leases of hosts that the run has booked, and stops the run before they end.
  - All verbs of the collection need it.
author: The psap.perf developers (@openshift-psap)
requirements:
  - enabled in C(callbacks_enabled)
"""

import atexit
import gc
import os
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible import constants
from ansible import context as ansible_context
from ansible.plugins.callback import CallbackBase
from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import AwxJob
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import git_state, start_facts
from ansible_collections.psap.perf.plugins.module_utils.run.directory import new_run_directory, runs_root
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE, TOOLBOX_FLOW
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import (
    RunLogFile,
    call_while_tasks_run,
    extra_vars,
    log_to,
    notice_dead_workers,
)
from ansible_collections.psap.perf.plugins.plugin_utils.booking_watching import BookingWatch
from ansible_collections.psap.perf.plugins.plugin_utils.command_tracker import OpenCommand, TaskEnd
from ansible_collections.psap.perf.plugins.plugin_utils.leases import HeldLeases
from ansible_collections.psap.perf.plugins.plugin_utils.run_log import RunLog

_OPENING = "psap.perf.command"
_SUPERVISED_EVERY_S = 1.0


class CallbackModule(CallbackBase):  # type: ignore[misc]  # ansible-core has no types
    """Turn Ansible's events into the run directory."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "psap.perf.run_directory"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        """Create nothing before a playbook starts."""
        super().__init__()
        self._log: RunLog | None = None
        self._log_file: RunLogFile
        self._main_process = os.getpid()
        self._flow = ""
        self._job: AwxJob | None = None
        self._failed_items: dict[tuple[str, str], Any] = {}
        self._leases = HeldLeases()
        self._bookings: BookingWatch | None = None
        self._last_of_run = True

    @property
    def log(self) -> RunLog:
        """The run's log, whose directory exists after the playbook's start."""
        if self._log is None:
            raise RuntimeError("an event came before the playbook's start")
        self._restore_directory(self._log)
        return self._log

    def _restore_directory(self, log: RunLog) -> None:
        if log.restore_if_removed():
            # it is opened again for the next line
            self._log_file.close()

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Create and lock the run directory; without it no play begins."""
        try:
            self._begin(Path(playbook._file_name).stem, AwxJob.read(extra_vars(playbook._loader)))
        except (PerfError, OSError) as error:
            # Ansible treats a callback's exception as a warning, and would continue without a record, or in another run
            self._display.error(f"no play begins without a run directory: {error}")
            raise SystemExit(error.exit_code if isinstance(error, PerfError) else 1) from error

    def _begin(self, flow: str, job: AwxJob | None) -> None:
        environment = _environment(flow)
        environment.write()
        self._flow, self._job = flow, job
        # if a driver runs the phases in separate processes, only one of them includes the conclusion
        self._last_of_run = environment.parent is None and CONCLUDE not in (
            ansible_context.CLIARGS.get("skip_tags") or ()
        )
        self._log = RunLog.begin(environment, _facts(flow, environment, job))
        only_cleans = {CLEANUP, CONCLUDE}.issuperset(ansible_context.CLIARGS.get("tags") or ("all",))
        if flow != TOOLBOX_FLOW and not only_cleans:
            self._bookings = BookingWatch(environment)
        self._log_file = log_to(environment.directory / "ansible.log")
        atexit.register(self._ended_early)
        notice_dead_workers(self._worker_died)
        call_while_tasks_run(self._supervise, _SUPERVISED_EVERY_S)
        _collect_less_garbage()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """End all commands of the previous play when a play begins."""
        self.log.play_started(play.get_name().strip())
        if CLEANUP in play.tags and self._bookings is not None:
            self._bookings.end()

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """Skip a play that does not apply to this run, such as one that books hosts."""
        self.log.play_is_empty()

    def v2_runner_on_ok(self, result: Any) -> None:
        """Record a successful task, which may have opened a command."""
        if result.task.resolved_action == _OPENING:
            # the last of the chain is the role psap.perf.command, preceded by the command that opened
            self._opened(result, (result.task.get_dep_chain() or [])[:-1])
        self.log.task_ended(self._end(result, changed=bool(result.result.get("changed"))), self._name(result), "ok")
        facts = result.result.get("run_facts")
        if facts:
            self.log.add_facts(facts)
        lease = result.result.get("run_lease")
        if lease:
            self._leases.keep(lease)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """Record a skipped task."""
        self.log.task_ended(self._end(result), self._name(result), "skipped")

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """Record the first failed item of a loop; since Ansible 2.21 the task's own result does not contain it."""
        self._failed_items.setdefault(_identity(result), result.result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Record a failed task, even if the play rescues it."""
        document = self._failed_items.pop(_identity(result), result.result)
        if ignore_errors:
            self.log.task_ended(self._end(result), self._name(result), "ignored")
            return
        if result.task.resolved_action == _OPENING:
            # the command never opened; its arguments are not the cause
            self.log.failed(self._failure(result.host, result.task, document, None))
            return
        failure = self._failure(result.host, result.task, document, None)
        end = self._end(result, failed=True, interrupted=failure.interrupted, error=failure.why)
        command = self.log.task_ended(end, self._name(result), "failed")
        self.log.failed(self._failure(result.host, result.task, document, command), command)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Record a task on an unreachable host."""
        self.v2_runner_on_failed(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """End the run after the last play."""
        if not stats.processed:
            failure = _no_host(self.log.environment)
            self._display.error(failure.why)
            self.log.failed(failure)
        self.log.ended(
            any(stats.summarize(host)["failures"] or stats.summarize(host)["unreachable"] for host in stats.processed)
        )
        self._print_place(self.log)
        lost = self.log.lost_export()
        self._log = None
        self._leases.end(give_back=self._last_of_run)
        if not stats.processed:
            # for Ansible, a playbook without hosts is not a failure
            raise SystemExit(UsageError.exit_code)
        if lost:
            # the run succeeded, but its artifacts are missing for those who need them
            self._display.error(f"the run was not exported: {lost}")
            raise SystemExit(PerfError.exit_code)

    def _ended_early(self) -> None:
        """End the run if Ansible exits without statistics: after an error of the playbook itself, or a signal."""
        if self._log is not None and os.getpid() == self._main_process:
            self.log.ended_early(self._log_file.last_error)
            self._print_place(self._log)
            # a driver continues with the finalizers
            self._leases.end(give_back=self._last_of_run and not self._log.part_of_attempt)

    def _supervise(self) -> None:
        """Check the run directory, the lease and the bookings, even during a task of several hours."""
        if self._log is not None:
            with suppress(OSError):
                self._restore_directory(self._log)
        self._leases.check()
        for warning in self._bookings.check() if self._bookings is not None else ():
            self._display.warning(warning)

    def _print_place(self, log: RunLog) -> None:
        """Print the run's directory and how to generate its report; a driver does both itself."""
        if log.part_of_attempt or log.environment.parent:
            return
        if self._job is not None:
            self._print_export_place(log)
            return
        place = os.path.relpath(log.directory) if log.directory.is_relative_to(Path.cwd()) else str(log.directory)
        self._display.display(f"run     {place}")
        # a single command has no report
        if self._flow != TOOLBOX_FLOW:
            self._display.display(f"report  make it with: perfanalysis report {shlex.quote(place)}")

    def _print_export_place(self, log: RunLog) -> None:
        """Print the place of the exported run, since AWX deletes the job's files."""
        place = log.exported_to()
        if place:
            self._display.display(f"run     {place}")
            self._display.display(f"report  make it with: perfdrv replot {shlex.quote(place)}")
        else:
            self._display.display(f"run     {log.directory.name} is not exported: its files end with this job")

    def _worker_died(self, host: Any, task: Any, code: int) -> None:
        """Record the failure of a task whose process died without a result; the playbook ends."""
        how = f"was killed by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"ended with {code}"
        why = f"the process of this task {how} before it had a result"
        end = TaskEnd(host.get_name(), _chain(task), utc_now(), failed=True, error=why)
        command = self.log.task_ended(end, str(task.get_name()), "failed")
        self.log.failed(self._failure(host, task, {"msg": why, "error_kind": "WorkerDied"}, command), command)

    def _opened(self, result: Any, chain: list[Any]) -> None:
        now = utc_now()
        command = OpenCommand(
            directory=Path(result.result["directory"]),
            role=chain[-1].get_name(include_role_fqcn=False),
            host=result.host.get_name(),
            marker=id(chain[-1]),
            started=now,
            last=now,
        )
        self.log.opened(command, [id(role) for role in chain])

    def _end(
        self,
        result: Any,
        changed: bool = False,
        failed: bool = False,
        interrupted: bool = False,
        error: str | None = None,
    ) -> TaskEnd:
        return TaskEnd(result.host.get_name(), _chain(result.task), utc_now(), changed, failed, interrupted, error)

    @staticmethod
    def _name(result: Any) -> str:
        return str(result.task.get_name())

    @staticmethod
    def _failure(host: Any, task: Any, document: Any, command: OpenCommand | None) -> Failure:
        role = task._role.get_name(include_role_fqcn=False) if task._role else None
        return Failure(
            at=utc_now(),
            attempt=RunEnvironment.read().attempt,
            host=host.get_name(),
            role=command.role if command else role,
            what=f"{command.role}: {task.name}" if command else str(task.get_name()),
            where=f"{task.get_path()} on host {host.get_name()}",
            why=_message(document),
            exit_code=int(document.get("exit_code") or 1),
            kind=str(document.get("error_kind") or ""),
            directory=str(command.directory) if command else None,
        )


def _no_host(environment: RunEnvironment) -> Failure:
    """Return the failure of a playbook whose hosts the inventory does not have."""
    sources = ", ".join(environment.inventory) or "from ansible.cfg"
    return Failure(
        at=utc_now(),
        attempt=environment.attempt,
        host="",
        role=None,
        what="no play had a host",
        where=sources,
        why=f"the inventory ({sources}) has none of the playbook's hosts; a site has the host sutest",
        exit_code=UsageError.exit_code,
        kind=UsageError.__name__,
        directory=None,
    )


def _identity(result: Any) -> tuple[str, str]:
    """Return the unique identity of a task on a host."""
    return result.host.get_name(), str(result.task._uuid)


def _message(document: Any) -> str:
    return str(document.get("msg") or document.get("reason") or document.get("stderr") or "no message")


def _chain(task: Any) -> tuple[int, ...]:
    """Return markers of the roles around *task*: every inclusion of a role has its own Role object."""
    roles = [*(task.get_dep_chain() or []), *([task._role] if task._role else [])]
    node = task._parent
    while node is not None:
        if node._role is not None:
            roles.append(node._role)
        node = node._parent
    return tuple(id(role) for role in roles)


def _collect_less_garbage() -> None:
    """Exclude Ansible's loaded objects from garbage collection.

    Collecting them again and again costs a fifth of a short play's CPU, and each task's fork a copy of the memory.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _environment(flow: str) -> RunEnvironment:
    """Return the environment that a driver prepared, or the environment of a plain ansible-playbook."""
    project = Path(constants.CONFIG_FILE).parent if constants.CONFIG_FILE else Path.cwd()
    sources = tuple(str(source) for source in ansible_context.CLIARGS.get("inventory") or ())
    if not os.environ.get("PERF_RUN_DIR"):
        os.environ["PERF_RUN_DIR"] = str(new_run_directory(runs_root(project), flow))
    prepared = RunEnvironment.read()
    attempt = RunLog.next_attempt(prepared.directory) if not os.environ.get("PERF_RUN_ATTEMPT") else prepared.attempt
    return RunEnvironment(
        directory=prepared.directory,
        attempt=attempt,
        cell=prepared.cell,
        parent=prepared.parent,
        project=project,
        inventory=sources,
    )


def _site(inventory: str, project: Path) -> str:
    """Return the name of the site below inventories/, or the full path of another one."""
    path = Path(inventory).absolute()
    return next((site.name for site in (path, path.parent) if site.parent == project / "inventories"), str(path))


def _facts(flow: str, environment: RunEnvironment, job: AwxJob | None) -> dict[str, Any]:
    arguments = ansible_context.CLIARGS
    sites = ", ".join(_site(source, environment.project) for source in environment.inventory) or "default"
    # AWX copies the project without its .git
    commit = {"commit": job.commit, "dirty": False} if job and job.commit else git_state(environment.project)
    facts = start_facts(
        flow=flow,
        check=bool(arguments.get("check")),
        tags=arguments.get("tags") or (),
        skip_tags=arguments.get("skip_tags") or (),
        site=job.inventory if job and job.inventory else sites,
        argv=sys.argv,
        git=commit,
    )
    return {**facts, "parent": environment.parent}
