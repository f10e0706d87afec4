"""The folder of all runs, and the names of runs in it: an id, the beginning of one, `latest`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, read_document

LATEST, RUN_FILE = "latest", "run.json"
BEGAN = re.compile(r"-(\d{8}T\d{6}Z)-[0-9a-f]+$")


def runs_folder() -> Path:
    """As PERF_RUNS_DIR says, else `runs` in the working directory."""
    return Path(os.environ.get("PERF_RUNS_DIR", "runs")).expanduser()


def run_names(folder: Path | None = None) -> list[str]:
    """Ids of all runs of a folder, by default of the folder of all runs, the newest first."""
    return [run.name for run in sorted(run_directories(folder or runs_folder()), key=_began, reverse=True)]


def run_directories(folder: Path) -> list[Path]:
    """The directories of all runs of a folder; one that this user may not read is left out."""
    return [path for path in folder.iterdir() if _is_run(path)] if folder.is_dir() else []


def _is_run(path: Path) -> bool:
    try:
        return (path / RUN_FILE).is_file()
    except OSError:
        return False


def run_named(text: str, folder: Path | None = None, *, whole: bool = False) -> Path | None:
    """The directory of the run of that id, of the only one that begins so (not with `whole`), or of the `latest` one
    that was not refused; None where there is none, and where it is a path already. Raises UsageError for several.
    """
    if os.sep in text or Path(text).exists():
        return None
    folder = folder or runs_folder()
    names = run_names(folder)
    if text == LATEST:
        found = [name for name in names if _document(folder / name).get("status") != "refused"][:1]
    else:
        found = [name for name in names if name == text] or [name for name in names if name.startswith(text)]
        found = [] if whole and text not in found else found
    if len(found) > 1:
        raise UsageError(f"{text} is the beginning of {len(found)} runs: {', '.join(found[:4])}; give more of the id")
    return folder / found[0] if found else None


def _began(run: Path) -> tuple[str, str]:
    """When it did, as its id says, else its document; and the id."""
    stamp = BEGAN.search(run.name)
    return stamp[1] if stamp else re.sub(r"[-:]|\.\d+", "", str(_document(run).get("started") or "")), run.name


def _document(run: Path) -> Document:
    return read_document(run / RUN_FILE, "run", RUN_FILE)[0] or {}
