"""`perfdrv doctor`: what this machine, this project and its cluster have, with remedies."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from perfdrv.command_line.completion import complete_sites
from perfdrv.command_line.session import current_project
from perfdrv.command_line.tables import print_table
from perfdrv.errors import EXIT_OK
from perfdrv.examining.cluster import examine_cluster
from perfdrv.examining.findings import Finding, worst_exit_code
from perfdrv.examining.machine import examine_machine
from perfdrv.examining.project import examine_project


@click.command(short_help="Check this machine, the project and its cluster.")
@click.option("-i", "--site", metavar="SITE", shell_complete=complete_sites,
              help="Inventory: a folder below inventories/, or a path. [default: ansible.cfg's inventory]")  # fmt: skip
@click.option("--no-cluster", is_flag=True, help="Do not connect to the cluster.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(ctx: click.Context, site: str | None, no_cluster: bool, as_json: bool) -> int:
    """Examine this machine and the cluster; print a remedy for each missing part.

    \b
    Exit codes: 0 nothing required is missing, 2 the machine or the project is not ready, 3 the cluster is not.
    """
    project = current_project(ctx)
    inventory = project.inventory(site) if site else None
    findings = [*examine_machine(Path.cwd()), *examine_project(project)]
    if not no_cluster:
        findings += examine_cluster(project, inventory)
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        print_table(("check", "status", "found", "remedy"), map(_row, findings))
    return worst_exit_code(findings) or EXIT_OK


def _row(finding: Finding) -> tuple[str, str, str, str]:
    return finding.check, finding.status, finding.found, finding.remedy
