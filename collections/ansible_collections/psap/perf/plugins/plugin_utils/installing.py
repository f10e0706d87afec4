"""The installer of a verb's arguments, and the plan of the cluster that it creates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.module_utils.provisioning.install_config import (
    InstallPlan,
    Machines,
    Networks,
    user_tags,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.installer import LOG, Hooks, Installer, Release
from ansible_collections.psap.perf.plugins.module_utils.provisioning.ocp import aws_environment
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import ClusterRecord
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

PROGRAM = "openshift-install"


@dataclass(frozen=True, slots=True)
class InstallerArguments:
    """The arguments that name the installer and its credentials."""

    program: str
    credentials: str


@dataclass(frozen=True, slots=True)
class PlanArguments:
    """The arguments of the command `cluster_create_ocp` that describe the cluster."""

    base_domain: str
    region: str
    topology: str
    control_plane_type: str
    control_plane_disk_size: int
    control_plane_disk_type: str
    workers_type: str
    workers_count: int
    workers_disk_size: int
    workers_disk_type: str
    workers_spot: bool
    zones: tuple[str, ...]
    architecture: str
    fips: bool
    publish: str
    machine_network: str
    pod_network: str
    pod_network_per_node: int
    service_network: str
    network_type: str
    subnets: tuple[str, ...]
    hosted_zone: str
    tags_by_operators: bool
    ssh_key_file: str


def installer_of(context: VerbContext, record: ClusterRecord, show: Callable[[str], None]) -> Installer:
    """Return the installer for the cluster of a record, as the arguments or the record name it.

    Raises:
        UsageError: If the program or the credentials are missing.
    """
    args = context.arguments(InstallerArguments)
    program = args.program or record.destruction.get("program") or PROGRAM
    credentials = args.credentials or record.secrets.get("aws", "")
    return installer_in(context, Path(record.folder), program, credentials, show)


def installer_in(
    context: VerbContext, folder: Path, program: str, credentials: str, show: Callable[[str], None]
) -> Installer:
    """Return an installer whose AWS credentials, a reference to a secret or empty, are in a file in *folder*."""
    # before the installer writes the file: the values are redacted, or refused
    text = context.secret(credentials) if aws_keys(context, credentials) else ""
    log = context.directory / "artifacts" / LOG
    hooks = Hooks(context.check_interrupted, show, context.redactor.redact)
    return Installer(program, aws_environment(folder, text), log, hooks)


def aws_keys(context: VerbContext, reference: str) -> Keys | None:
    """Return the AWS credentials of *reference*, and redact them in outputs; None for an empty reference.

    Raises:
        UsageError: If they do not have the format of the program ``aws``.
    """
    if not reference:
        return None
    keys = Keys.parse(context.secret(reference))
    for value in keys.secrets():
        context.redactor.add(value)
    return keys


def plan_of(args: PlanArguments, record: ClusterRecord, release: Release | None) -> InstallPlan:
    """Return the plan of the cluster of *record*.

    Args:
        args: The arguments that describe the cluster.
        record: The cluster.
        release: The release of the installer; None for the newest.

    Raises:
        UsageError: If the SSH key cannot be read.
    """
    plan = InstallPlan(
        name=record.name,
        base_domain=args.base_domain,
        region=args.region,
        topology=args.topology,
        control_plane=Machines(
            args.control_plane_type, args.control_plane_disk_size, args.control_plane_disk_type, args.zones
        ),
        workers=Machines(args.workers_type, args.workers_disk_size, args.workers_disk_type, args.zones),
        workers_count=args.workers_count,
        spot=args.workers_spot,
        architecture=args.architecture,
        fips=args.fips,
        publish=args.publish,
        networks=Networks(
            machines=args.machine_network,
            pods=args.pod_network,
            host_prefix=args.pod_network_per_node,
            services=args.service_network,
            type=args.network_type,
        ),
        subnets=args.subnets,
        hosted_zone=args.hosted_zone,
        tags=user_tags(record.tags, record.owner, record.created, record.time_to_live),
        propagate_tags=args.tags_by_operators,
        ssh_key=_ssh_key(args.ssh_key_file),
    )
    return replace(plan, release=release.version, payload=release.architecture) if release else plan


def _ssh_key(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the SSH key {path}: {error}") from error
