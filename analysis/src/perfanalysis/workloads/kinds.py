"""The known kinds of workloads: those in Python, declared ones of this and of other packages, and the user's.

A kind in Python is a module with `WORKLOAD`, and a line in `PYTHON_KINDS`. A folder in this package with a
`workload.yml` needs no line. Another package names such folders and modules by entry points. A kind is loaded if a run
has its marker, or if all are requested.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.extensions import load_entry_points
from perfanalysis.files.discovery import Place, Run, discover
from perfanalysis.workloads.declared.loading import declaration, load_workload
from perfanalysis.workloads.workload_type import WorkloadType

PYTHON_KINDS: Mapping[str, str] = {
    "recording.json": "perfanalysis.workloads.scale_test.analysis",
    "fine_tuning.json": "perfanalysis.workloads.fine_tuning.analysis",
    "guidellm.json": "perfanalysis.workloads.load_test.guidellm",
    "aiperf.json": "perfanalysis.workloads.load_test.aiperf",
    "inference_perf.json": "perfanalysis.workloads.load_test.inference_perf",
    "vllm_bench.json": "perfanalysis.workloads.load_test.vllm_bench",
    "llm_load_test.json": "perfanalysis.workloads.load_test.llm_load_test",
}
SHIPPED = Path(__file__).parent
# sequences of folders with a workload.yml
GROUP = "perfanalysis.kinds"
# tables like PYTHON_KINDS
PYTHON_GROUP = "perfanalysis.python_kinds"


class Kinds:
    """Kinds by their markers, each loaded once."""

    def __init__(self, loaders: Mapping[str, Callable[[], WorkloadType[Any]]]) -> None:
        self._loaders = dict(loaders)
        self._loaded: dict[str, WorkloadType[Any]] = {}

    @property
    def markers(self) -> tuple[str, ...]:
        """Return every marker file."""
        return tuple(self._loaders)

    def of(self, marker: str) -> WorkloadType[Any]:
        """Return the kind of a marker file."""
        if marker not in self._loaded:
            self._loaded[marker] = self._loaders[marker]()
        return self._loaded[marker]

    @property
    def all(self) -> dict[str, WorkloadType[Any]]:
        """Return the declarations of all kinds, by their markers."""
        return {marker: self.of(marker) for marker in self.markers}

    def discover(self, directory: Path) -> Run:
        """Return a run with its recordings of these kinds, except those that are parts of another.

        Raises UsageError as `discover` of files does.
        """
        run = discover(directory, self.markers)
        wholes = [(place.directory, parts) for place in run.places if (parts := self.of(place.marker).parts)]
        return replace(run, places=tuple(place for place in run.places if not _is_part(place, wholes)))

    def with_folders(self, folders: Iterable[Path]) -> Kinds:
        """Return these and the kinds of folders, which are loaded immediately; a known marker is replaced.

        Raises UsageError with file and line for an invalid folder, or two of them with one marker.
        """
        given: dict[str, tuple[Path, WorkloadType[Any]]] = {}
        for folder in dict.fromkeys(folder.resolve() for folder in folders):
            declared = declaration(folder)
            if declared.marker in given:
                other = given[declared.marker][0]
                raise UsageError(f"{declared.at}: {other} has the marker {declared.marker} too; pass only one of them")
            given[declared.marker] = (folder, load_workload(folder))
        loaders = {marker: partial(lambda kind: kind, kind) for marker, (_, kind) in given.items()}
        return Kinds(self._loaders | loaders)


def _is_part(place: Place, wholes: Iterable[tuple[Path, tuple[str, ...]]]) -> bool:
    return any(place.marker in parts and whole in place.directory.parents for whole, parts in wholes)


def _python_kind(module: str) -> WorkloadType[Any]:
    kind: WorkloadType[Any] = importlib.import_module(module).WORKLOAD
    return kind


@cache
def shipped() -> Kinds:
    """Return the kinds of perfanalysis and of installed packages.

    Raises:
        UsageError: Two kinds share a marker.
        AnalysisError: An entry point is broken.
    """
    loaders: dict[str, Callable[[], WorkloadType[Any]]] = {
        marker: partial(_python_kind, module) for marker, module in PYTHON_KINDS.items()
    }
    for point, table in load_entry_points(PYTHON_GROUP, Mapping).items():
        for marker, module in table.items():
            if marker in loaders:
                raise UsageError(f"{point}: another kind has the marker {marker}")
            loaders[marker] = partial(_python_kind, module)
    for folder in _declared_folders():
        declared = declaration(folder)
        if declared.marker in loaders:
            raise UsageError(f"{declared.at}: another kind has the marker {declared.marker}")
        loaders[declared.marker] = partial(load_workload, folder)
    return Kinds(loaders)


def _declared_folders() -> Iterator[Path]:
    yield from (path.parent for path in sorted(SHIPPED.glob("*/workload.yml")))
    for folders in load_entry_points(GROUP, Sequence).values():
        yield from map(Path, folders)
