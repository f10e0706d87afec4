"""`perfdrv lock status|break`: which run changes the cluster, and taking the cluster from it."""

from __future__ import annotations

import datetime
import json
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.cluster.lease import (
    KIND,
    NAME,
    NAMESPACE,
    WAITING,
    Lease,
    in_order,
    lease_of,
)

from perfdrv.ansible.single_task import run_task
from perfdrv.command_line.completion import complete_sites
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_project
from perfdrv.errors import EXIT_OK

_LEASE = {"kind": KIND, "name": NAME, "namespace": NAMESPACE}
_QUEUE = {"kind": KIND, "namespace": NAMESPACE, "label_selector": WAITING}
_DELETED = {"kinds": [{"kind": KIND}], "name": [NAME], "namespace": [NAMESPACE]}
_site = click.option(
    "-i",
    "--site",
    metavar="SITE",
    shell_complete=complete_sites,
    help="The inventory: a folder below inventories/, or a path.",
)
lock = SuggestingGroup(
    "lock",
    help=f"Show and break the lease by which one run at a time changes a cluster: Lease {NAME} in {NAMESPACE}.",
    no_args_is_help=True,
)


@lock.command("status")
@_site
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status_command(ctx: click.Context, site: str | None, as_json: bool) -> int:
    """Show which run changes the cluster, if any, and which ones wait for it."""
    lease = _lease(ctx, site)
    queue = in_order(map(lease_of, _answer(ctx, site, "look", _QUEUE)["objects"]))
    if as_json:
        click.echo(json.dumps({**_document(lease), "waiting": list(map(_document, queue))}, indent=2))
    elif lease is None:
        click.echo("No run changes the cluster.")
    else:
        click.echo(f"In use by {lease}.")
        click.echo(f"Renewed at {lease.renewed}{': it has expired' if _expired(lease) else ''}.")
        click.echo(f"Its directory is {lease.holder.directory} on {lease.holder.host}.")
    if not as_json:
        for number, each in enumerate(queue, 1):
            click.echo(f"{number}. in the queue: {each}{', which has expired' if _expired(each) else ''}.")
    return EXIT_OK


@lock.command("break")
@_site
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def break_command(ctx: click.Context, site: str | None, yes: bool) -> int:
    """Take the cluster from the run that changes it.

    A run that is alive stops within seconds, and leaves in the cluster what it has created.
    """
    lease = _lease(ctx, site)
    if lease is None:
        click.echo("No run changes the cluster.")
        return EXIT_OK
    if not yes:
        click.confirm(f"The cluster is in use by {lease}. Take it?", abort=True)
    _answer(ctx, site, "delete", _DELETED)
    click.echo(f"The cluster was taken from {lease}.")
    return EXIT_OK


def _lease(ctx: click.Context, site: str | None) -> Lease | None:
    return next(map(lease_of, _answer(ctx, site, "look", _LEASE)["objects"]), None)


def _answer(ctx: click.Context, site: str | None, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    project = current_project(ctx)
    return run_task(project, project.inventory(site) if site else None, verb, arguments)


def _expired(lease: Lease) -> bool:
    return lease.expired(datetime.datetime.now(datetime.UTC))


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
