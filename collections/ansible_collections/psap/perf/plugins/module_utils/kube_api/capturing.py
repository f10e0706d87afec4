"""Write objects, events and logs of a cluster to files, and list what could not be captured."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide_in_stream
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import git_state, versions
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, readable
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query, QueryArguments
from ansible_collections.psap.perf.plugins.module_utils.kube_api.tables import table_text

EVERYWHERE = "*"
# below artifacts/, for complete logs
LOGS = "logs"
_CHUNK_BYTES = 1 << 16


@dataclass(slots=True)
class Capture:
    """The files written below *folder*, and a line for each that is missing."""

    folder: Path
    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def keep(self, name: str, what: str, read: Callable[[], str]) -> None:
        """Write the text that *read* returns to *name*; an error becomes a line of *missing*."""
        try:
            text = read()
            write_text(self.folder / name, text)
        except PerfError as error:
            self.missing.append(f"{what}: {error}")
            return
        self.files.append(f"{self.folder.name}/{name}")

    def copy(self, name: str, what: str, read: Callable[[], Iterable[bytes]]) -> None:
        """Write the pieces that *read* returns to *name*; after an error, the earlier pieces are kept."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        try:
            with path.open("wb") as stream:
                stream.writelines(hide_in_stream(read()))
        except (PerfError, OSError) as error:
            self.missing.append(f"{what}: {error}")
            if not path.exists() or path.stat().st_size == 0:
                path.unlink(missing_ok=True)
                return
        self.files.append(f"{self.folder.name}/{name}")

    def finish(self) -> None:
        """Write the list of missing files, if any."""
        if self.missing:
            self.keep("not_captured.txt", "the list of missing objects", lambda: "\n".join(self.missing) + "\n")


@dataclass(frozen=True, slots=True)
class CapturedObjects(QueryArguments):
    """Objects of one kind to capture: the name of the files, by default the kind's, and their formats."""

    file: str | None
    formats: tuple[str, ...]
    show_labels: bool
    when_served: bool


def capture_objects(capture: Capture, cluster: Cluster, wanted: CapturedObjects) -> None:
    """Capture objects of one kind, as YAML and as a table."""
    try:
        query = wanted.as_query()
    except UsageError as error:
        capture.missing.append(str(error))
        return
    if wanted.when_served and not cluster.serves(query.api_version, query.kind):
        return
    name = wanted.file or query.kind.lower()

    def as_yaml() -> str:
        items, _version = cluster.list(query)
        return "".join(f"---\n{dump_yaml(readable(item))}" for item in items) or f"# no {query}\n"

    def as_table() -> str:
        everywhere = query.namespace is None and cluster.is_namespaced(query.api_version, query.kind)
        text = table_text(cluster.table(query), namespaces=everywhere, labels=wanted.show_labels)
        return text or f"no {query}\n"

    if "yaml" in wanted.formats:
        capture.keep(f"{name}.yml", str(query), as_yaml)
    if "table" in wanted.formats:
        capture.keep(f"{name}.txt", f"the table of {query}", as_table)


@dataclass(frozen=True, slots=True)
class CapturedProgram:
    """A program to run in the first selected pod, and the file of its output."""

    namespace: str | None
    label_selector: str
    container: str
    command: tuple[str, ...]
    file: str


def capture_program(
    capture: Capture, cluster: Cluster, namespace: str, program: CapturedProgram, check: Callable[[], None]
) -> None:
    """Run a program in a pod, and capture its output.

    Args:
        check: Raises if the user interrupts the run.
    """

    def output() -> Iterator[bytes]:
        query = Query("v1", "Pod", namespace=namespace, label_selector=program.label_selector)
        pods, _version = cluster.list(query)
        if not pods:
            raise ClusterError(f"no {query}")
        where = (namespace, str(pods[0]["metadata"]["name"]), program.container)
        with tempfile.TemporaryFile() as stream:
            done = run_in_pod(cluster.access, where, program.command, stream, check)
            if done.exit_code:
                raise ClusterError(f"exit code {done.exit_code} in pod {where[1]}: {done.errors}")
            stream.seek(0)
            yield from iter(lambda: stream.read(_CHUNK_BYTES), b"")

    capture.copy(program.file, f"output {program.file} of {program.command[0]}", output)


def capture_cluster(capture: Capture, cluster: Cluster) -> None:
    """Capture the cluster's version, server, uid, and description if it is a lab."""

    def as_yaml() -> str:
        about = {"version": cluster.version(), "server": cluster.server, "uid": cluster.uid(), "lab": cluster.lab()}
        return dump_yaml({"schema": "psap.perf/cluster/1", **about})

    capture.keep("cluster.yml", "the version of the cluster", as_yaml)


def capture_project(capture: Capture, project: Path) -> None:
    """Capture the project's git revision, null outside a checkout, and the versions of the programs and libraries."""
    about = {"git": git_state(project), "versions": versions()}
    capture.keep("project.yml", "the project", lambda: dump_yaml({"schema": "psap.perf/project/1", **about}))


def capture_events(capture: Capture, cluster: Cluster, namespace: str) -> None:
    """Capture the events of a namespace, or of all for ``*``, oldest first, one a line."""
    everywhere = namespace == EVERYWHERE

    def as_lines() -> str:
        items, _version = cluster.list(Query("v1", "Event", namespace=None if everywhere else namespace))
        lines = sorted(_event_line(item) for item in items)
        return "\n".join(lines) + "\n"

    capture.keep("events.txt" if everywhere else f"events_{namespace}.txt", f"events of {namespace}", as_lines)


def capture_logs(capture: Capture, cluster: Cluster, namespace: str, label_selector: str | None, tail: int) -> None:
    """Capture the log of every container of the selected pods."""
    query = Query("v1", "Pod", namespace=namespace, label_selector=label_selector)
    try:
        pods, _version = cluster.list(query)
    except PerfError as error:
        capture.missing.append(f"logs of {query}: {error}")
        return
    for pod, container in _containers(pods):
        name = f"log_{pod}_{container}.txt"
        read = functools.partial(cluster.logs, namespace, pod, container, tail)
        capture.keep(name, f"log of {pod}/{container}", read)


def capture_whole_logs(
    capture: Capture, cluster: Cluster, namespace: str, label_selector: str | None, *, init: bool = False
) -> None:
    """Capture the whole logs of the selected pods as ``logs/<pod>.log``.

    The name has the container, too, if the pod has several, or it is an init container.

    Args:
        init: Whether to capture the logs of init containers.
    """
    query = Query("v1", "Pod", namespace=namespace, label_selector=label_selector)
    try:
        pods, _version = cluster.list(query)
    except PerfError as error:
        capture.missing.append(f"logs of {query}: {error}")
        return
    for pod, container, name in (*(_init_log_names(pods) if init else ()), *whole_log_names(pods)):
        chunks = functools.partial(cluster.log_chunks, namespace, pod, container)
        capture.copy(f"{LOGS}/{name}", f"log of {pod}/{container}", chunks)


def whole_log_names(pods: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str, str]]:
    """Yield pod, container and the log's file below :data:`LOGS` for every container of *pods*."""
    for pod in pods:
        name, containers = pod["metadata"]["name"], pod["spec"].get("containers", [])
        for container in containers:
            file = f"{name}.log" if len(containers) == 1 else f"{name}_{container['name']}.log"
            yield name, container["name"], file


def _init_log_names(pods: Iterable[Manifest]) -> Iterable[tuple[str, str, str]]:
    for pod in pods:
        for container in pod["spec"].get("initContainers") or ():
            yield pod["metadata"]["name"], container["name"], f"{pod['metadata']['name']}_{container['name']}.log"


def _containers(pods: Iterable[Manifest]) -> Iterable[tuple[str, str]]:
    for pod in pods:
        for container in pod["spec"].get("containers", []):
            yield pod["metadata"]["name"], container["name"]


def _event_line(event: Manifest) -> str:
    about = event.get("involvedObject") or event.get("regarding") or {}
    at = event.get("eventTime") or event.get("lastTimestamp") or event["metadata"].get("creationTimestamp", "")
    message = str(event.get("message") or event.get("note") or "").replace("\n", " ")
    return f"{at} {event.get('type', '')} {event.get('reason', '')} {_about(about)}: {message}"


def _about(reference: Mapping[str, Any]) -> str:
    where = f"{reference['namespace']}/" if reference.get("namespace") else ""
    return f"{reference.get('kind')} {where}{reference.get('name')}"
