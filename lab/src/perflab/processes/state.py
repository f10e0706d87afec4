"""One lab: its folder, its `lab.json`, and the lock of commands on it."""

from __future__ import annotations

import dataclasses
import datetime
import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perflab.errors import ClusterError, PrintLine, UsageError
from perflab.files import documents
from perflab.processes.process import Identity
from perflab.processes.program import Program
from perflab.profiles import KUBERNETES, PRODUCTS, WITHOUT_ROOT, chosen, emulated, real

SCHEMA = "psap.perf/lab/1"
DEFAULT_NAME = "default"

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Options:
    """The requested options of a lab."""

    nodes: int = 100
    gpus_per_node: int = 8
    gpu_product: str = "NVIDIA-H100-80GB-HBM3"
    profile: str = KUBERNETES
    node_template: str | None = None
    fsync: bool = False
    audit: bool = False
    emulate: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    fair_sharing: bool = False
    pods_ready_timeout: int | None = None
    dra: bool = False
    mig: bool = False
    topology: str = ""
    scheduler_config: str | None = None
    second_scheduler: str | None = None


def check_same(options: Options, given: dict[str, Any], name: str) -> None:
    """Check that the lab *name*, which is running with *options*, has those that were *given*.

    Raises:
        UsageError: If one differs.
    """
    present = dataclasses.asdict(options)
    for key, value in given.items():
        if present[key] != value:
            raise UsageError(
                f"the lab {name!r} is running with {key} = {_text(present[key])}, not {_text(value)}. "
                f"Run `perflab down --name {name}` first (`perflab scale` changes the number of nodes)."
            )


def _text(value: Any) -> str:
    return (", ".join(value) or "nothing") if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab: its folder and the contents of `lab.json`. `state` is starting, running or failed.

    `rootless`: it has a real node of an ordinary user.
    """

    folder: Path
    options: Options
    state: str = "starting"
    started: str = ""
    ports: dict[str, int] = dataclasses.field(default_factory=dict)
    pids: dict[str, Identity] = dataclasses.field(default_factory=dict)
    programs: dict[str, Program] = dataclasses.field(default_factory=dict)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    rootless: bool = False

    @property
    def name(self) -> str:
        """Return the lab's name, which is its folder's."""
        return self.folder.name

    @property
    def kubeconfig(self) -> Path:
        """Return the path of the administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def node_template(self) -> Path:
        """Return the lab's copy of `--node-template`; it exists only if the option was given."""
        return self.folder / "node-template.yaml"

    @property
    def scheduler_config(self) -> Path:
        """Return the lab's copy of `--scheduler-config`; it exists only if the option was given."""
        return self.folder / "scheduler-config.yaml"

    @property
    def second_scheduler_config(self) -> Path:
        """Return the lab's copy of the file of `--second-scheduler`; it exists only if the option was given."""
        return self.folder / "second-scheduler.yaml"

    @property
    def emulators(self) -> tuple[str, ...]:
        """Return the names of the emulators that it runs."""
        return chosen(self.options.profile, self.options.emulate, self.options.products)

    @property
    def server(self) -> str:
        """Return the API server's URL."""
        return f"https://127.0.0.1:{self.ports['kube-apiserver']}"

    @property
    def absent(self) -> tuple[str, ...]:
        """Return what its real node does not have because its user is not root."""
        return WITHOUT_ROOT if self.rootless else ()

    def log(self, component: str) -> Path:
        """Return the log file of a component."""
        return self.folder / "logs" / f"{component}.log"

    def dead_components(self) -> list[str]:
        """Return the names of the components that do not run any more."""
        return [name for name, identity in self.pids.items() if not identity.is_alive()]

    def write(self) -> None:
        """Write `lab.json`."""
        documents.write_json(self.folder / "lab.json", self.document())

    def document(self) -> dict[str, Any]:
        """Return the contents of `lab.json`."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            **dataclasses.asdict(self.options),
            "state": self.state,
            "started": self.started,
            "server": self.server if self.ports else None,
            "ports": self.ports,
            "pids": {name: dataclasses.asdict(identity) for name, identity in self.pids.items()},
            "programs": {name: program.document() for name, program in self.programs.items()},
            "versions": self.versions,
            "rootless": self.rootless,
            "real": [
                "control plane",
                *real(self.options.profile, self.options.products, rootless=self.rootless),
            ],
            "emulated": [*self.emulators, *emulated(self.options.profile, self.options.products)],
            "simulated": ["nodes", "pods"],
            "absent": list(self.absent),
        }


def now() -> str:
    """Return the time, UTC, ISO 8601 with milliseconds and Z."""
    text = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def check_name(name: str) -> str:
    """Return `name` if it can name a lab. Raises UsageError if it cannot."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"invalid name of a lab {name!r}: use 1 to 40 lower-case letters, digits and hyphens, beginning "
            "and ending with a letter or digit."
        )
    return name


def read_lab(home: Path, name: str) -> Lab | None:
    """Return the lab in its `lab.json`; None if there is no such file or it cannot be read."""
    folder = home / check_name(name)
    document = documents.read_json(folder / "lab.json")
    if document is None or document.get("schema") != SCHEMA:
        return None
    known = {field.name for field in dataclasses.fields(Options)}
    options = {key: value for key, value in document.items() if key in known}
    # JSON only has lists
    options |= {key: tuple(options.get(key, ())) for key in ("emulate", "products")}
    # a lab of another version can have products that this one does not have; `perflab down` deletes it nevertheless
    options["products"] = tuple(name for name in options["products"] if name in PRODUCTS)
    return Lab(
        folder=folder,
        options=Options(**options),
        state=document["state"],
        started=document["started"],
        ports=document["ports"],
        pids={key: Identity(value["pid"], value["start_time"]) for key, value in document["pids"].items()},
        # a lab of an older perflab did not record them
        programs={key: Program.read(key, value) for key, value in document.get("programs", {}).items()},
        versions=document["versions"],
        rootless=document.get("rootless", False),
    )


def get_started(home: Path, name: str) -> Lab:
    """Return the lab `name`, which was up, though programs of it may have ended. Raises ClusterError if it was not."""
    lab = read_lab(home, name)
    if lab is None:
        raise ClusterError(f"unknown lab {name!r} in {home}. Create it with: perflab up --name {name}")
    if lab.state != "running":
        raise _unusable(name, f"its state is {lab.state!r}")
    return lab


def get_running(home: Path, name: str) -> Lab:
    """Return the lab `name`, which must be up. Raises ClusterError with what to do if it is not."""
    lab = get_started(home, name)
    dead = lab.dead_components()
    if dead:
        raise _unusable(name, f"{', '.join(dead)} died")
    return lab


def _unusable(name: str, why: str) -> ClusterError:
    return ClusterError(f"the lab {name!r} is not usable: {why}. Create it again: perflab up --name {name}")


def names(home: Path) -> list[str]:
    """Return the names of all labs that have a folder."""
    if not home.is_dir():
        return []
    return sorted(path.name for path in home.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))


def is_locked(home: Path, name: str) -> bool:
    """Return whether a command works on this lab."""
    path = home / f".{check_name(name)}.lock"
    if not path.exists():
        return False
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextmanager
def only_one(home: Path, name: str, print_line: PrintLine) -> Iterator[None]:
    """Exclude other commands on this lab; the kernel releases the lock when the process ends."""
    documents.private_folder(home)
    path = home / f".{check_name(name)}.lock"
    with path.open("a") as lock:
        path.chmod(documents.PRIVATE_FILE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print_line(f"waiting for another command on the lab {name!r}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
