"""`up` and `down`: a lab is started completely or not at all, and deleted completely."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from perflab.building import envoy
from perflab.building.components import sets_for, versions
from perflab.building.sets import Binaries
from perflab.cluster import nodes
from perflab.cluster.api import Api, connect
from perflab.cluster.installing import install
from perflab.control_plane import products, programs, prometheus, setup
from perflab.control_plane.certificates import Authority
from perflab.control_plane.credentials import make_credentials
from perflab.control_plane.programs import Credentials
from perflab.errors import ClusterError, PrintLine
from perflab.files import documents
from perflab.processes import launch, process, state
from perflab.processes.launch import PortTakenError
from perflab.processes.ports import free_ports
from perflab.processes.program import Program
from perflab.processes.state import Lab, Options
from perflab.profiles import ENVOY, OPENSHIFT, WORKER, running
from perflab.worker import deleting, network, node, requirements

PORT_ATTEMPTS = 4
# each finds one of 64 networks by chance
_NETWORK_ATTEMPTS = 300
# etcd's first files, and some logs; a test of thousands of Jobs needs a few times that
NEEDED_BYTES = 300 * 1000**2


def up(home: Path, name: str, options: Options, binaries: Binaries, print_line: PrintLine) -> Lab:
    """Start a lab, after removing the remains of a crashed lab of this name.

    Raises ClusterError if a program does not become ready; started programs are stopped then, and their logs are kept
    until the next `up` or `down`.
    """
    folder = home / name
    for attempt in range(1, PORT_ATTEMPTS + 1):
        remove(folder)
        try:
            return _start(_prepare(folder, options), binaries, print_line)
        except PortTakenError as error:
            _stop(folder)
            if attempt == PORT_ATTEMPTS:
                raise
            print_line(f"{str(error).split('.', 1)[0]}: another process uses its port; trying other ports")
        except BaseException:
            _stop(folder)
            raise
    raise AssertionError("the loop returns or raises")


def down(home: Path, name: str) -> bool:
    """Stop a lab and remove its folder. Return False if there was nothing to stop or remove."""
    folder = home / state.check_name(name)
    existed = folder.exists() or bool(process.find_marked(folder))
    remove(folder)
    return existed


def remove(folder: Path) -> None:
    """End every process of the lab in `folder`, then delete the folder."""
    _stop(folder)
    lab = state.read_lab(folder.parent, folder.name)
    if lab and WORKER in lab.options.products and lab.ports:
        deleting.set_aside(folder, node.cgroup(lab))
    elif folder.exists():
        shutil.rmtree(folder)
    deleting.start(folder.parent)


def _stop(folder: Path) -> None:
    lab = state.read_lab(folder.parent, folder.name)
    known = list(lab.pids.values()) if lab else []
    # a command killed between starting a program and recording it leaves one that only its environment identifies
    left = process.kill({*known, *process.find_marked(folder)})
    if left:
        pids = ", ".join(str(identity.pid) for identity in left)
        raise ClusterError(f"cannot kill processes of the lab in {folder}: {pids}")
    if lab:
        dataclasses.replace(lab, state="failed", pids={}).write()


def _prepare(folder: Path, options: Options) -> Lab:
    documents.private_folder(folder.parent)
    _check_room(folder.parent)
    documents.private_folder(folder)
    for part in ("logs", "data"):
        documents.private_folder(folder / part)
    lab = Lab(
        folder,
        options,
        started=state.now(),
        ports=_free_ports(options),
        versions={
            **versions([each for part in sets_for(options.profile, options.products) for each in part]),
            **(envoy.versions() if ENVOY in running(options.profile, options.products) else {}),
        },
        rootless=WORKER in options.products and requirements.is_rootless(),
    )
    if options.node_template:
        # a copy: the lab can be scaled after the file is deleted
        documents.write_private(lab.node_template, Path(options.node_template).read_text())
    if options.scheduler_config:
        documents.write_private(lab.scheduler_config, Path(options.scheduler_config).read_text())
    if options.second_scheduler:
        documents.write_private(lab.second_scheduler_config, Path(options.second_scheduler).read_text())
    lab.write()
    return lab


def _free_ports(options: Options) -> dict[str, int]:
    """Return free ports, of which the worker's gives a network that no other lab has."""
    routes = network.present_routes() if WORKER in options.products else []
    for _attempt in range(_NETWORK_ATTEMPTS):
        ports = free_ports(programs.port_names(options))
        if WORKER not in ports or network.is_free(network.for_port(ports[WORKER]), routes):
            return ports
    raise ClusterError(f"every range of addresses in {network.ALL} has a route: delete labs with a real node")


def _check_room(home: Path) -> None:
    free = shutil.disk_usage(home).free
    if free < NEEDED_BYTES:
        raise ClusterError(
            f"not enough disk space for a lab: {free / 1e6:.0f} MB free in {home}, {NEEDED_BYTES / 1e6:.0f} "
            "MB needed. Free some, or point PERFLAB_HOME to a larger disk."
        )


def _start(lab: Lab, binaries: Binaries, print_line: PrintLine) -> Lab:
    started = time.monotonic()
    authority = Authority(lab.folder / "pki")
    files = make_credentials(authority, lab)
    setup.issue_webhook_certificate(authority, lab)
    setup.issue_peer_certificate(authority, lab)
    print_line(f"starting the lab {lab.name!r}: etcd and the API server")
    lab = asyncio.run(_start_all(lab, binaries, files, print_line))
    lab = dataclasses.replace(lab, state="running")
    lab.write()
    print_line(f"the lab {lab.name!r} is up after {time.monotonic() - started:.1f} s")
    return lab


async def _start_all(lab: Lab, binaries: Binaries, files: Credentials, print_line: PrintLine) -> Lab:
    server = programs.apiserver(lab, binaries, files)
    alone = [programs.kubelet(lab, sys.executable)]
    if lab.options.profile == OPENSHIFT:
        alone.append(prometheus.program(lab, binaries))
    lab = _launched(lab, [programs.etcd(lab, binaries), server, *alone])
    await launch.wait_ready(lab, [server])
    try:
        return await _start_others(lab, binaries, files, alone, print_line)
    except ClusterError:
        # report the program that ended rather than the request that failed because of it
        launch.check_alive(lab)
        raise


async def _start_others(
    lab: Lab, binaries: Binaries, files: Credentials, started: Sequence[Program], print_line: PrintLine
) -> Lab:
    """Start programs that need the API server; those that need no further kinds start while these are installed."""
    early = [
        *programs.schedulers(lab, binaries, files),
        programs.kwok(lab, binaries, files),
        programs.emulators(lab, sys.executable),
    ]
    late = [
        programs.controller_manager(lab, binaries, files),
        *(each.program(lab, binaries, files.kubeconfigs[name]) for name, each in products.of(lab).items()),
    ]
    others = [*started, *early, *late]
    print_line(f"starting {', '.join(program.name for program in others)}")
    async with connect(lab.folder, lab.server) as api:
        lab = _launched(lab, early)
        later = await setup.install_kinds(api, lab, binaries)
        lab = _launched(lab, late)
        await asyncio.gather(install(api, lab, later), _fill(api, lab), launch.wait_ready(lab, others))
        await setup.install_webhooks(api, lab, binaries)
    print_line(f"{lab.options.nodes} simulated nodes are Ready")
    return lab


def _launched(lab: Lab, wanted: Iterable[Program]) -> Lab:
    for program in wanted:
        lab = launch.start(lab, program)
    return lab


async def _fill(api: Api, lab: Lab) -> None:
    await nodes.set_number(api, lab, lab.options.nodes)
    await setup.mark_cluster(api, lab)
    await setup.wait_for_default_account(api, lab)
    await nodes.wait_ready(api, lab, lab.options.nodes)
