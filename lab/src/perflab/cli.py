"""The lab's command line: `perflab …`, and `perfdrv lab …` with the same commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from perflab.errors import UsageError
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import DEFAULT_NAME, Options, check_same
from perflab.processes.status import report, sentence
from perflab.profiles import KUBERNETES, KUEUE, LLAMA_CPP, OFFERED, PRODUCTS, PROFILES, S3, WORKER, requested

_DEFAULTS = Options()


def _complete_name(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in state.names(places.home()) if name.startswith(incomplete)]


_NAME = click.option(
    "--name", default=DEFAULT_NAME, show_default=True, shell_complete=_complete_name, help="Name of the lab."
)


_WITH = click.option(
    "--with",
    "products",
    type=click.Choice(list(PRODUCTS)),
    multiple=True,
    help="Add a product's own controllers, simulated model servers (models) or a real node (worker); repeatable.",
)


def print_line(text: str) -> None:
    """Print one line of progress."""
    click.echo(text, err=True)


@click.group()
def lab() -> None:
    """Create and delete Kubernetes labs with simulated GPU nodes."""


@lab.command()
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), default=KUBERNETES, show_default=True, help="Profile of the labs."
)
@click.option(
    "--with",
    "products",
    type=click.Choice([*PRODUCTS, S3, LLAMA_CPP]),
    multiple=True,
    help=f"Also build this product; repeatable. {S3} and {LLAMA_CPP} are for tests and images, not part of a lab.",
)
@click.option(
    "--from",
    "source",
    metavar="FILE|URL",
    help="Get programs from this archive of --pack; those that it does not contain are built.",
)
@click.option("--sha256", metavar="HEX", help="SHA-256 that the archive of --from must have.")
@click.option(
    "--pack",
    "target",
    metavar="FILE",
    type=click.Path(dir_okay=False, resolve_path=True, path_type=Path),
    help="Write the programs to an archive for other machines.",
)
def build(profile: str, products: tuple[str, ...], source: str | None, sha256: str | None, target: Path | None) -> None:
    """Build the lab's programs into the cache.

    This takes minutes the first time, and less than a minute with --from.
    """
    from perflab.building import packing
    from perflab.building.build import ensure_binaries, ensure_profile
    from perflab.building.components import S3_SERVER
    from perflab.building.llama import ensure_llama_cpp
    from perflab.control_plane.products.worker import ensure_images
    from perflab.worker import requirements

    if sha256 and not source:
        raise UsageError("--sha256 checks the archive of --from: pass both.")
    if WORKER in products and (sentence := requirements.missing_programs()):
        print_line(sentence)
    if source:
        packing.install(places.cache_root(), source, sha256, print_line)
    of_labs = tuple(name for name in products if name in PRODUCTS)
    binaries = ensure_profile(places.cache_root(), print_line, profile, of_labs)
    if WORKER in products:
        ensure_images(places.cache_root(), binaries, products)
    further = [ensure_binaries(places.cache_root(), print_line, S3_SERVER).folder] if S3 in products else []
    further += [ensure_llama_cpp(places.cache_root(), print_line).folder] if LLAMA_CPP in products else []
    folders = (binaries.folder, *binaries.beside, *further)
    if target:
        packing.pack(folders, target, print_line)
    click.echo(f"The lab's programs are in {' and '.join(map(str, folders))}.")


@lab.command()
@_NAME
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help=f"Profile of the cluster. [default: {_DEFAULTS.profile}]"
)
@click.option("--nodes", type=click.IntRange(0, 10000), help=f"Number of simulated nodes. [default: {_DEFAULTS.nodes}]")
@click.option(
    "--gpus",
    "gpus_per_node",
    type=click.IntRange(0, 64),
    help=f"Number of GPUs per node. [default: {_DEFAULTS.gpus_per_node}]",
)
@click.option("--gpu-product", help=f"GPU product of the nodes. [default: {_DEFAULTS.gpu_product}]")
@click.option(
    "--node-template",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="YAML file with a Node to merge into each node (labels, taints, capacity).",
)
@click.option("--fsync", is_flag=True, default=None, help="Make etcd sync its writes to disk, as in production.")
@click.option("--audit", is_flag=True, default=None, help="Enable the API server's audit log (level Metadata).")
@click.option(
    "--emulate",
    type=click.Choice(OFFERED),
    multiple=True,
    help="Emulate the API and the controllers of this product; repeatable.",
)
@_WITH
@click.option(
    "--fair-sharing", is_flag=True, default=None, help="Make Kueue share cohorts by the weights of its queues."
)
@click.option(
    "--pods-ready-timeout",
    metavar="SECONDS",
    type=click.IntRange(min=1),
    help="Make Kueue evict workloads whose pods are not all ready in time after the admission.",
)
@click.option(
    "--dra", is_flag=True, default=None, help="Offer GPUs by dynamic resource allocation, not as nvidia.com/gpu."
)
@click.option("--mig", is_flag=True, default=None, help="With --dra, also offer MIG partitions of each GPU.")
@click.option(
    "--topology",
    metavar="LEVEL=N,…",
    help="Levels of the nodes' topology, the largest domains first: block=4,rack=8 for 4 blocks of 8 racks.",
)
@click.option(
    "--scheduler-config",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="YAML file with a KubeSchedulerConfiguration: profiles and plugins of kube-scheduler.",
)
@click.option(
    "--second-scheduler",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="YAML file with the KubeSchedulerConfiguration of a second kube-scheduler, whose profiles have other names.",
)
def up(
    name: str,
    profile: str | None,
    nodes: int | None,
    gpus_per_node: int | None,
    gpu_product: str | None,
    node_template: str | None,
    fsync: bool | None,
    audit: bool | None,
    emulate: tuple[str, ...],
    products: tuple[str, ...],
    fair_sharing: bool | None,
    pods_ready_timeout: int | None,
    dra: bool | None,
    mig: bool | None,
    topology: str | None,
    scheduler_config: str | None,
    second_scheduler: str | None,
) -> None:
    """Create a lab and wait until it is ready.

    Builds missing programs. A running lab is left unchanged.
    """
    from perflab.building.build import ensure_profile
    from perflab.cluster import devices
    from perflab.cluster.nodes import read_template
    from perflab.cluster.topology import parse_topology
    from perflab.control_plane import lifecycle
    from perflab.control_plane.scheduler_config import check_names, read_scheduler_config
    from perflab.worker import requirements

    home = places.home()
    asked: dict[str, Any] = {
        "profile": profile,
        "nodes": nodes,
        "gpus_per_node": gpus_per_node,
        "gpu_product": gpu_product,
        "node_template": node_template,
        "fsync": fsync,
        "audit": audit,
        # in a fixed order, independent of the order of the options
        "emulate": tuple(name for name in OFFERED if name in emulate) or None,
        "products": requested((*products, *emulate)) or None,
        "fair_sharing": fair_sharing,
        "pods_ready_timeout": pods_ready_timeout,
        "dra": dra,
        "mig": mig,
        "topology": topology,
        "scheduler_config": scheduler_config,
        "second_scheduler": second_scheduler,
    }
    given = {key: value for key, value in asked.items() if value is not None}
    for option, value in (("--fair-sharing", fair_sharing), ("--pods-ready-timeout", pods_ready_timeout)):
        if value and KUEUE not in products:
            raise UsageError(f"{option} is a setting of Kueue: add --with kueue.")
    if dra:
        devices.check(profile or _DEFAULTS.profile, gpu_product or _DEFAULTS.gpu_product, mig=bool(mig))
    elif mig:
        raise UsageError("--mig offers partitions as devices: add --dra.")
    parse_topology(topology or "")
    if node_template:
        read_template(Path(node_template))
    if scheduler_config:
        read_scheduler_config(Path(scheduler_config))
    if second_scheduler:
        first = read_scheduler_config(Path(scheduler_config)) if scheduler_config else {}
        check_names(read_scheduler_config(Path(second_scheduler)), first, Path(second_scheduler))
    if WORKER in products:
        requirements.check(home, places.cache_root())
    with state.only_one(home, name, print_line):
        present = state.read_lab(home, name)
        if present and present.state == "running" and not present.dead_components():
            check_same(present.options, given, name)
            click.echo(f"The lab {name!r} is already running.")
            return
        options = Options(**given)
        binaries = ensure_profile(places.cache_root(), print_line, options.profile, options.products)
        started = lifecycle.up(home, name, options, binaries, print_line)
    click.echo(f"Use it with: export KUBECONFIG={started.kubeconfig}")


@lab.command()
@_NAME
@click.option("--all", "every", is_flag=True, help="Delete all labs.")
def down(name: str, every: bool) -> None:
    """Delete a lab: its processes and its data."""
    from perflab.control_plane import lifecycle

    home = places.home()
    for each in state.names(home) if every else [name]:
        with state.only_one(home, each, print_line):
            existed = lifecycle.down(home, each)
        click.echo(f"The lab {each!r} is deleted." if existed else f"There is no lab {each!r}.")


@lab.command()
@click.option("--name", shell_complete=_complete_name, help="Name of the lab. [default: all labs]")
@click.option("--json", "as_json", is_flag=True, help="Print each lab's lab.json.")
def status(name: str | None, as_json: bool) -> None:
    """List the labs and the state of their programs."""
    home = places.home()
    labs = [state.read_lab(home, each) for each in ([name] if name else state.names(home))]
    known = [each for each in labs if each is not None]
    if as_json:
        click.echo(json.dumps([report(each) for each in known], indent=2))
        return
    if not known:
        click.echo(f"No lab in {home}.")
    for each in known:
        click.echo(sentence(each))


@lab.command()
@_NAME
def kubeconfig(name: str) -> None:
    """Print the path of a running lab's kubeconfig."""
    click.echo(state.get_running(places.home(), name).kubeconfig)


@lab.command()
@_NAME
@click.argument("component", required=False)
@click.option("--lines", default=50, show_default=True, help="Number of lines.")
def logs(name: str, component: str | None, lines: int) -> None:
    """Print the last lines of a component's log.

    Without COMPONENT, list the components.
    """
    folder = places.home() / state.check_name(name) / "logs"
    known = sorted(path.stem for path in folder.glob("*.log"))
    if component is None:
        click.echo("\n".join(known) or f"The lab {name!r} has no logs.")
        return
    if component not in known:
        raise UsageError(f"the lab {name!r} has no log of {component!r}; known: {', '.join(known) or 'none'}.")
    text = (folder / f"{component}.log").read_text(errors="replace")
    click.echo("\n".join(text.splitlines()[-lines:]))


@lab.command()
@_NAME
@click.argument("component")
@click.option(
    "--after",
    "away_s",
    type=click.FloatRange(min=0),
    default=0,
    show_default=True,
    help="Seconds between killing and starting it.",
)
def restart(name: str, component: str, away_s: float) -> None:
    """Kill and restart a component of a lab.

    COMPONENT is kube-apiserver, etcd, emulators or another one; it need not be running.
    """
    from perflab.control_plane import restarting

    home = places.home()
    with state.only_one(home, name, print_line):
        restarting.restart(state.get_started(home, name), component, away_s)
    click.echo(f"{component} of the lab {name!r} is ready again.")


@lab.group()
def image() -> None:
    """Manage the images of a lab's real node."""


@image.command("load")
@_NAME
@click.argument("images", metavar="NAME|FILE...", nargs=-1, required=True)
def load_images(name: str, images: tuple[str, ...]) -> None:
    """Load images into the real node of a lab.

    NAME is an image that the lab writes itself; `perflab image list` lists these. FILE is an archive in the OCI layout
    or in the format of Docker, as `podman save` and `docker save` write it; it may be compressed by gzip.
    """
    from perflab.worker import archives, built_in

    running = archives.with_real_node(state.get_running(places.home(), name))
    for each in images:
        is_built_in = each in built_in.BUILT_IN or not Path(each).is_file()
        archive = built_in.ensure(places.cache_root(), each, print_line) if is_built_in else Path(each).resolve()
        for loaded in archives.load(running, archive):
            click.echo(f"The lab {name!r} has the image {loaded}.")


@image.command("list")
def list_images() -> None:
    """List the images that the lab writes itself, and their names for pods."""
    from perflab.worker.built_in import BUILT_IN

    for name, each in BUILT_IN.items():
        click.echo(f"{name:<12} {each.image:<32} {each.contents}")


@lab.command()
@_NAME
@click.option("--nodes", type=click.IntRange(0, 10000), required=True, help="Desired number of nodes.")
def scale(name: str, nodes: int) -> None:
    """Set the number of nodes of a running lab."""
    from perflab.control_plane import scaling

    home = places.home()
    with state.only_one(home, name, print_line):
        scaling.scale(state.get_running(home, name), nodes)
    click.echo(f"The lab {name!r} has {nodes} Ready nodes.")


@lab.command()
@_NAME
@click.argument("values", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--clear", is_flag=True, help="Remove all values set before.")
def step(name: str, values: tuple[str, ...], clear: bool) -> None:
    """Set delays and failures of steps.

    KEY is PROGRAM.STEP, or PROGRAM.STEP.OBJECT for one object. VALUE is 5s, never, "fail: TEXT" or "5s, fail: TEXT".
    KEY= removes a key. Without arguments, list the steps and their values.
    """
    from perflab.control_plane import stepping

    home = places.home()
    given = dict(_pair(each) for each in values)
    running = state.get_running(home, name)
    possible = stepping.known(running)
    stepping.check(given, possible)
    if given or clear:
        now_set = stepping.change(running, given, clear=clear)
        click.echo("\n".join(f"{key}: {now_set[key]}" for key in sorted(now_set)) or "No value is set.")
    else:
        click.echo("\n".join(stepping.describe(possible, stepping.read(running))))


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise UsageError(f"invalid value {text!r}: write KEY=VALUE.")
    return key, value
