"""The folder of all runs, and the ways to name one of them."""

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
from perfanalysis.files.runs_folder import run_directories, run_named, run_names

from perfdrv.errors import UsageError, unknown
from perfdrv.project import Project, shown_path

# what Ansible's own runs write that were given none
_DEFAULT_SITE = "default"
# what is read of run.json, where it is there
_TYPES: Mapping[str, type] = MappingProxyType(
    {"started": str, "ended": str, "flow": str, "presets": list, "attempts": list, "lab": dict}
)


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in the list; `problem` says why its run.json cannot be read."""

    directory: Path
    status: str
    document: Mapping[str, Any]
    problem: str = ""

    @property
    def id(self) -> str:
        """The run's id."""
        return self.directory.name

    @property
    def reason(self) -> str:
        """The first failure in one line: why it failed, else what did."""
        reason = self.document.get("reason")
        said = (reason.get("why") or reason.get("what")) if isinstance(reason, Mapping) else None
        return self.problem or str(said or "").strip().partition("\n")[0]


def list_runs(root: Path) -> list[RunEntry]:
    """All runs below *root*, the oldest first; a folder without run.json is none."""
    entries = [read_entry(path) for path in run_directories(root)]
    return sorted(entries, key=lambda entry: (str(entry.document.get("started", "")), entry.id))


def read_entry(directory: Path) -> RunEntry:
    """One run, also when its run.json is damaged."""
    try:
        run = read_run(directory)
    except PerfError as error:
        return RunEntry(directory, "damaged", {}, str(error))
    odd = _part_of_another_type(run.document)
    if odd:
        return RunEntry(directory, "damaged", {}, f"{directory / RUN_FILE}: {odd} is of another type")
    return RunEntry(directory, run.status, run.document)


def _part_of_another_type(document: Mapping[str, Any]) -> str:
    """The first key of run.json that no psap.perf wrote so; empty if there is none."""
    for name, kind in _TYPES.items():
        if not isinstance(document.get(name), kind | None):
            return name
    return "" if all(isinstance(each, Mapping) for each in document.get("attempts") or []) else "attempts"


def find_run(root: Path, name: str) -> Path:
    """The directory of a run named by its path, its id, a prefix that only it has, or `latest`.

    Raises:
        UsageError: there is none, or several.
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
        raise UsageError(f"{name} is no directory of a run: it {what}. The runs: perfdrv runs list")
    names = run_names(root)
    if not names:
        raise UsageError(f"There are no runs in {root}. Start one with: perfdrv run FLOW")
    raise UsageError(unknown("run", name, names, "perfdrv runs list"))


def run_word(run: Path) -> str:
    """What a command typed here calls a run: its id where commands look for runs, else its path."""
    known = run.parent == runs_root(Path.cwd())
    return shlex.quote(run.name if known else shown_path(run))


def former_site(project: Project, entry: RunEntry) -> str | None:
    """The site that a run used, by its name or path; None for the default one.

    Raises:
        UsageError: it is not there any more. What the run left is on no other one.
    """
    site = entry.document.get("site")
    if not isinstance(site, str) or site == _DEFAULT_SITE:
        return None
    if site in project.content().sites or (Path(site).is_absolute() and Path(site).exists()):
        return site
    raise UsageError(f"{entry.id} was on the site {site}, which is not there any more: put it back, and repeat.")
