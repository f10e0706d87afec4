"""The folder of all runs, and names of runs in it: an id, the beginning of one, `latest`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, read_document

LATEST, RUN_FILE = "latest", "run.json"
BEGAN = re.compile(r"-(\d{8}T\d{6}Z)-[0-9a-f]+$")


def runs_folder() -> Path:
    """Return PERF_RUNS_DIR, or `runs` in the working directory."""
    return Path(os.environ.get("PERF_RUNS_DIR", "runs")).expanduser()


def run_names(folder: Path | None = None) -> list[str]:
    """Return the ids of all runs of a folder (by default the folder of all runs), the newest first."""
    return [run.name for run in sorted(run_directories(folder or runs_folder()), key=_began, reverse=True)]


def run_directories(folder: Path) -> list[Path]:
    """Return the directories of all runs of a folder, except those that this user may not read."""
    return [path for path in folder.iterdir() if _is_run(path)] if folder.is_dir() else []


def _is_run(path: Path) -> bool:
    try:
        return (path / RUN_FILE).is_file()
    except OSError:
        return False


def run_named(text: str, folder: Path | None = None, *, whole: bool = False) -> Path | None:
    """Return the directory of a run: by its id, by a unique beginning of it (not with `whole`), or the `latest` one
    that was not refused; None if no run matches, or if the text is a path. Raises UsageError for several.
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
        raise UsageError(f"{text} is the beginning of {len(found)} runs: {', '.join(found[:4])}; pass more of the id")
    return folder / found[0] if found else None


def _began(run: Path) -> tuple[str, str]:
    """Return the start, by the id or else by the document; and the id."""
    stamp = BEGAN.search(run.name)
    return stamp[1] if stamp else re.sub(r"[-:]|\.\d+", "", str(_document(run).get("started") or "")), run.name


def _document(run: Path) -> Document:
    return read_document(run / RUN_FILE, "run", RUN_FILE)[0] or {}
