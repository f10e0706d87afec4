"""The folder of all runs, and the lookup of a run by its name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE, read_run, runs_root
from perfanalysis.errors import AnalysisError
from perfanalysis.files.documents import mapping
from perfanalysis.files.runs_folder import run_directories, run_named, run_names

from perfdrv.errors import UsageError, unknown
from perfdrv.project import Project, shown_path

# recorded by runs of plain ansible-playbook without an inventory option
_DEFAULT_SITE = "default"
# optional fields of run.json that are read, with their types
_TYPES: Mapping[str, type] = MappingProxyType(
    {"started": str, "ended": str, "flow": str, "presets": list, "attempts": list, "lab": dict, "verdict": dict}
)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in the list.

    Attributes:
        problem: Why its run.json cannot be read; empty if it can.
    """

    directory: Path
    status: str
    document: Mapping[str, Any]
    problem: str = ""

    @property
    def id(self) -> str:
        """Return the run's id."""
        return self.directory.name

    @property
    def reason(self) -> str:
        """Return the first failure in one line: its reason, or the task that failed."""
        reason = self.document.get("reason")
        text = (reason.get("why") or reason.get("what")) if isinstance(reason, Mapping) else None
        return self.problem or str(text or "").strip().partition("\n")[0]

    @property
    def verdict(self) -> Mapping[str, Any]:
        """Return the verdict of the history, the field of run.json; empty for a run that was not judged."""
        return mapping(self.document.get("verdict"))


def list_runs(root: Path) -> list[RunEntry]:
    """Return all runs below a folder, oldest first; a folder without run.json is not a run."""
    entries = [read_entry(path) for path in run_directories(root)]
    return sorted(entries, key=lambda entry: (str(entry.document.get("started", "")), entry.id))


def read_entry(directory: Path) -> RunEntry:
    """Return a run, also if its run.json is damaged."""
    try:
        run = read_run(directory)
    except PerfError as error:
        return RunEntry(directory, "damaged", {}, str(error))
    odd = _part_of_another_type(run.document)
    if odd:
        return RunEntry(directory, "damaged", {}, f"{directory / RUN_FILE}: the field {odd} has a wrong type")
    return RunEntry(directory, run.status, run.document)


def _part_of_another_type(document: Mapping[str, Any]) -> str:
    """Return the first field of run.json that has a wrong type; empty if all are right."""
    for name, kind in _TYPES.items():
        if not isinstance(document.get(name), kind | None):
            return name
    return "" if all(isinstance(each, Mapping) for each in document.get("attempts") or []) else "attempts"


def find_run(root: Path, name: str) -> Path:
    """Return the directory of a run.

    Args:
        root: The folder of all runs.
        name: Its path, its id, a unique beginning of its id, or `latest`.

    Raises:
        UsageError: There is no such run, or several.
    """
    path = Path(name).expanduser()
    if (path / RUN_FILE).is_file():
        return path.absolute()
    try:
        found = run_named(name, root)
    except AnalysisError as error:
        raise UsageError(str(error)) from error
    if found is not None:
        return found
    if path.exists():
        what = f"has no {RUN_FILE}" if path.is_dir() else "is a file"
        raise UsageError(f"{name} is not a run directory: it {what}; list the runs with: perfdrv runs list")
    names = run_names(root)
    if not names:
        raise UsageError(f"no runs in {root}: start one with: perfdrv run FLOW")
    raise UsageError(unknown("run", name, names, "perfdrv runs list"))


def run_word(run: Path) -> str:
    """Return the word for a run in a command: its id if it is in the default runs folder, otherwise its path."""
    known = run.parent == runs_root(Path.cwd())
    return shlex.quote(run.name if known else shown_path(run))


def former_site(project: Project, entry: RunEntry) -> str | None:
    """Return the site of a run by its name or path; None for the default site.

    Raises:
        UsageError: The site no longer exists. What the run left is on no other site.
    """
    site = entry.document.get("site")
    if not isinstance(site, str) or site == _DEFAULT_SITE:
        return None
    if site in project.content().sites or (Path(site).is_absolute() and Path(site).exists()):
        return site
    raise UsageError(f"{entry.id} used the site {site}, which no longer exists: restore it and try again")
