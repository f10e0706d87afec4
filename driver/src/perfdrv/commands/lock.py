"""`perfdrv lock status|break`: the locks of a cluster or a host."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import (
    KIND,
    LOCK_NAME,
    NAME,
    NAMESPACE,
    Lease,
    clock,
    in_order,
    lease_of,
)
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import State
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY

from perfdrv.ansible.single_task import SUTEST, run_task
from perfdrv.command_line.completion import complete_sites
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_project
from perfdrv.errors import EXIT_OK, UsageError

_RUN, _LOCK = "run", "lock"
_NAMES = {_RUN: NAME, _LOCK: LOCK_NAME}
lock = SuggestingGroup(
    "lock",
    help=(
        f"Show or break the locks of a cluster: the Lease {NAME} of the run that changes it and the Lease {LOCK_NAME} "
        f"of the owner who locked it, in namespace {NAMESPACE}. With --folder: the lock of a host without Kubernetes."
    ),
    no_args_is_help=True,
)


@dataclass(frozen=True)
class _Place:
    """The cluster of a host, or a folder of the host."""

    ctx: click.Context
    site: str | None
    host: str
    folder: str | None

    def answer(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        project = current_project(self.ctx)
        return run_task(project, project.inventory(self.site) if self.site else None, verb, arguments, self.host)

    def leases(self) -> dict[str, Lease]:
        """Return the Leases of the run, of the lock and of the queue, by name."""
        selector = ",".join(f"{label}={value}" for label, value in MANAGED_BY.items())
        asked = {"kind": KIND, "namespace": NAMESPACE, "label_selector": selector}
        return {lease.name: lease for lease in map(lease_of, self.answer("get", asked)["objects"])}

    def of_host(self, state: str) -> State:
        return State.from_document(self.answer("locks.file", {"folder": self.folder, "state": state})["lock"])


def _with_place(command: Callable[..., int]) -> Callable[..., int]:
    site = click.option(
        "-i",
        "--site",
        metavar="SITE",
        shell_complete=complete_sites,
        help="Inventory: a folder below inventories/, or a path.",
    )
    host = click.option("--host", default=SUTEST, show_default=True, help="Host of the site.")
    folder = click.option("--folder", help="Folder of the lock on the host. [default: the lock of the host's cluster]")
    return site(host(folder(click.pass_context(command))))


@lock.command("status", short_help="Show the locks and the queue.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_with_place
def status_command(ctx: click.Context, site: str | None, host: str, folder: str | None, as_json: bool) -> int:
    """Show the run that changes the cluster, the owner who locked it, and the queue."""
    place = _Place(ctx, site, host, folder)
    if folder:
        _show_host(place.of_host("read"), as_json=as_json)
        return EXIT_OK
    leases = place.leases()
    run, locked = leases.pop(NAME, None), leases.pop(LOCK_NAME, None)
    queue = in_order(leases.values())
    if as_json:
        waiting = list(map(_document, queue))
        click.echo(json.dumps({**_document(run), "waiting": waiting, "lock": _lock_document(locked)}, indent=2))
        return EXIT_OK
    if run is None:
        click.echo("no run changes the cluster")
    else:
        click.echo(f"in use by {run}")
        click.echo(f"renewed at {run.renewed}{' (expired)' if _expired(run) else ''}")
        click.echo(f"directory {run.holder.directory} on {run.holder.host}")
    if locked:
        click.echo(f"locked for {locked}{' (expired)' if _expired(locked) else ''}")
    for number, each in enumerate(queue, 1):
        click.echo(f"queue {number}: {each}{' (expired)' if _expired(each) else ''}")
    return EXIT_OK


@lock.command("break", short_help="Break the locks.")
@click.option("--only", type=click.Choice([_RUN, _LOCK]), help="Break only the Lease of the run, or only the lock.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@_with_place
def break_command(
    ctx: click.Context, site: str | None, host: str, folder: str | None, only: str | None, yes: bool
) -> int:
    """Take the cluster from the run that changes it, and from the owner who locked it.

    A live run stops within seconds. It does not delete the objects that it created.
    """
    place = _Place(ctx, site, host, folder)
    if folder:
        if only == _RUN:
            raise UsageError("--only run does not apply to the lock of a folder: omit it")
        return _break_host(place, yes=yes)
    leases = place.leases()
    held = {part: leases[name] for part, name in _NAMES.items() if only in (None, part) and name in leases}
    if not held:
        click.echo("the cluster is not locked" if only == _LOCK else "no run changes the cluster")
        return EXIT_OK
    state = " and ".join(f"{'in use by' if part == _RUN else 'locked for'} {lease}" for part, lease in held.items())
    if not _confirmed(f"the cluster is {state}", yes=yes):
        return EXIT_OK
    names = [_NAMES[part] for part in held]
    place.answer("delete", {"kinds": [{"kind": KIND}], "name": names, "namespace": [NAMESPACE]})
    for lease in held.values():
        click.echo(f"took the cluster from {lease}")
    return EXIT_OK


def _confirmed(state: str, *, yes: bool) -> bool:
    """Ask for confirmation, unless --yes was given.

    Raises:
        UsageError: There is no terminal to ask on.
    """
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{state}; no terminal to confirm on: add --yes to take it")
    if click.confirm(f"{state[:1].upper()}{state[1:]}. Take it?"):
        return True
    click.echo("nothing taken")
    return False


def _break_host(place: _Place, *, yes: bool) -> int:
    state = place.of_host("read")
    if state.holder is None:
        click.echo("the host is not locked")
        return EXIT_OK
    if not _confirmed(f"the host is locked for {state.holder}", yes=yes):
        return EXIT_OK
    taken = place.of_host("broken").holder
    click.echo(f"took the host from {taken}" if taken else "the host is not locked")
    return EXIT_OK


def _show_host(state: State, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(state.document(), indent=2))
        return
    click.echo(f"locked for {state.holder}" if state.holder else "the host is not locked")
    for number, each in enumerate(state.waiting, 1):
        click.echo(f"queue {number}: {each}")


def _expired(lease: Lease) -> bool:
    return lease.expired(clock())


def _lock_document(lease: Lease | None) -> dict[str, Any] | None:
    if lease is None:
        return None
    who = lease.holder
    document = {"owner": who.run, "what": who.what, "user": who.user, "host": who.host, "since": lease.since}
    return {**document, "until": utc_text(lease.end), "expired": _expired(lease)}


def _document(lease: Lease | None) -> dict[str, Any]:
    if lease is None:
        return {"held": False}
    who = lease.holder
    return {
        "held": True,
        "run": who.run,
        "what": who.what,
        "user": who.user,
        "host": who.host,
        "directory": who.directory,
        "since": lease.since,
        "renewed": lease.renewed,
        "expired": _expired(lease),
    }
