"""The installer of a verb's arguments, and what it is to create."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.clusters.install_config import (
    InstallPlan,
    Machines,
    Networks,
    user_tags,
)
from ansible_collections.psap.perf.plugins.module_utils.clusters.installer import LOG, Installer, Release, Said
from ansible_collections.psap.perf.plugins.module_utils.clusters.ocp import aws_environment
from ansible_collections.psap.perf.plugins.module_utils.clusters.record import ClusterRecord
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

PROGRAM = "openshift-install"


def installer_of(context: VerbContext, record: ClusterRecord, show: Callable[[str], None]) -> Installer:
    """The installer for the cluster of a record: that of the arguments, else that of the record.

    :raises UsageError: when it or the credentials are not there.
    """
    program = context.args["program"] or record.destruction.get("program") or PROGRAM
    credentials = aws_credentials(context, context.args["credentials"] or record.secrets.get("aws", ""))
    return installer_in(context, Path(record.folder), program, credentials, show)


def installer_in(
    context: VerbContext, folder: Path, program: str, credentials: str, show: Callable[[str], None]
) -> Installer:
    """An installer whose credentials of AWS are in a file of *folder*."""
    log = context.directory / "artifacts" / LOG
    said = Said(context.check_interrupted, show, context.redactor.redact)
    return Installer(program, aws_environment(folder, credentials), log, said)


def aws_credentials(context: VerbContext, reference: str) -> str:
    """What *reference* stands for, of which nothing is seen; empty for an empty one.

    :raises UsageError: when it is no file as the program ``aws`` keeps it.
    """
    if not reference:
        return ""
    text = context.secret(reference)
    for value in Keys.parse(text).secrets():
        context.redactor.add(value)
    return text


def plan_of(args: Mapping[str, Any], record: ClusterRecord, release: Release | None) -> InstallPlan:
    """What the arguments of the verb ``install`` say of the cluster of a record.

    :param release: of the installer; None for a new one.
    """
    plan = InstallPlan(
        name=record.name,
        base_domain=args["base_domain"],
        region=args["region"],
        topology=args["topology"],
        control_plane=_machines(args["control_plane"]),
        workers=_machines(args["workers"]),
        workers_count=args["workers_count"],
        spot=args["spot"],
        architecture=args["architecture"],
        fips=args["fips"],
        publish=args["publish"],
        networks=Networks(**args["networks"]),
        subnets=tuple(args["subnets"]),
        hosted_zone=args["hosted_zone"],
        tags=user_tags(record.tags, record.owner, record.created, record.time_to_live),
        propagate_tags=args["propagate_tags"],
        ssh_key=_ssh_key(args["ssh_key_file"]),
    )
    return replace(plan, release=release.version, payload=release.architecture) if release else plan


def _machines(given: Mapping[str, Any]) -> Machines:
    known = {name: value for name, value in given.items() if value}
    zones = known.pop("zones", ())
    return Machines(**known, zones=tuple(zones))


def _ssh_key(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the SSH key {path}: {error}") from error
