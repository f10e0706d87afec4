"""The folder of all runs, and the names of runs in it: an id, the beginning of one, `latest`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import read_document

LATEST = "latest"
BEGAN = re.compile(r"-(\d{8}T\d{6}Z)-[0-9a-f]+$")
"""When a run began, as its id says."""


def runs_folder() -> Path:
    """As PERF_RUNS_DIR says, else `runs` in the working directory."""
    return Path(os.environ.get("PERF_RUNS_DIR", "runs")).expanduser()


def run_names() -> list[str]:
    """Ids of all runs, the newest first; a directory of one's own choosing follows."""
    folder = runs_folder()
    names = [path.name for path in folder.iterdir() if (path / "run.json").is_file()] if folder.is_dir() else []
    return sorted(names, key=lambda name: (began[1] if (began := BEGAN.search(name)) else "", name), reverse=True)


def run_named(text: str, *, whole: bool = False) -> Path | None:
    """The directory of the run of that id, of the only one that begins so (not with `whole`), or of the `latest` one
    that was not refused; None where there is none, and where it is a path already. Raises UsageError for several.
    """
    if os.sep in text or Path(text).exists():
        return None
    names = run_names()
    if text == LATEST:
        found = [name for name in names if not _refused(runs_folder() / name)][:1]
    else:
        found = [name for name in names if name == text] or [name for name in names if name.startswith(text)]
        found = [] if whole and text not in found else found
    if len(found) > 1:
        raise UsageError(f"{text} is the beginning of {len(found)} runs: {', '.join(found[:4])}; give more of the id")
    return runs_folder() / found[0] if found else None


def _refused(run: Path) -> bool:
    document, _findings = read_document(run / "run.json", "run", "run.json")
    return document is not None and document.get("status") == "refused"
