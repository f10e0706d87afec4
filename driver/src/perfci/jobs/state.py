"""The state that the steps of a job, which may be separate containers, pass to each other.

A small document in the shared folder names the run and the result of each step. If each step has a separate folder of
artifacts, the shared folder also has the run as an archive: the whole run if there is room, otherwise without results.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.run.directory import LOCK_FILE, REPORT_FOLDER
from perfdrv.errors import UsageError

from perfci.jobs.job import Job
from perfci.jobs.steps import Choice

SCHEMA = "psap.perf/job/1"
STATE_FILE = "psap-perf-job.json"
ARCHIVE_FILE = "psap-perf-run.tar.xz"
# files that a later step needs to continue the run
_OF_RUN = ("run.json", "settings.yml", "failures.jsonl", "timeline.csv", "secrets.txt")
_ESSENTIAL = frozenset((*_OF_RUN, "args.yml", "status.json", "cell.json", "FAILURE"))


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The result of a step: `ok`, `failed`, `refused`, `interrupted`, `killed`, `skipped`, `not run`, `running`."""

    name: str
    status: str
    exit_code: int
    started: str
    ended: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job.

    Attributes:
        run: Name of the run's directory below the artifacts; None before there is one.
        choice: Steps that are left out for the whole job.
        given: Digest of the first step's flow and settings, which must be the same in all steps.
        left_out: Parts of the run that are missing in its archive because of their size; empty if it is complete.
    """

    build: str
    flow: str
    site: str | None
    given: str
    run: str | None = None
    left_out: str = ""
    choice: Choice = field(default_factory=Choice)
    steps: tuple[StepRecord, ...] = ()

    def statuses(self) -> dict[str, str]:
        """Return the status of each step so far."""
        return {step.name: step.status for step in self.steps}

    def record_of(self, name: str) -> StepRecord | None:
        """Return the record of a step."""
        return next((step for step in self.steps if step.name == name), None)

    def with_step(self, record: StepRecord) -> JobState:
        """Return the state with this record of a step."""
        return replace(self, steps=(*(step for step in self.steps if step.name != record.name), record))


def begin_step(name: str) -> StepRecord:
    """Return the record of a step that begins."""
    return StepRecord(name, "running", 0, utc_now())


def digest(words: Sequence[str]) -> str:
    """Return a hash of settings, which may be secret."""
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()[:16]


def read_state(job: Job) -> JobState | None:
    """Return the state of the earlier steps of this build; None for the first step.

    Raises:
        UsageError: The file is not a state, or belongs to another build.
    """
    path = job.shared / STATE_FILE
    if not path.is_file():
        return None
    document = read_json(path)
    try:
        state = _from_document(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not the state of a job ({type(error).__name__}: {error}): remove it") from error
    if state.build != job.identity:
        raise UsageError(
            f"{path} is the state of {state.build or 'another job'}, not of {job.identity}: remove it, or set another "
            "SHARED_DIR"
        )
    return state


def write_state(job: Job, state: JobState) -> None:
    """Write the state for later steps."""
    job.shared.mkdir(parents=True, exist_ok=True)
    document = {
        "schema": SCHEMA,
        "build": state.build,
        "flow": state.flow,
        "site": state.site,
        "given": state.given,
        "run": state.run,
        "skip": list(state.choice.skip),
        "only": list(state.choice.only),
        "left_out": state.left_out,
        "steps": [asdict(step) for step in state.steps],
    }
    write_json(job.shared / STATE_FILE, document)


def _from_document(document: Mapping[str, Any]) -> JobState:
    if document["schema"] != SCHEMA:
        raise KeyError(f"the schema is {document['schema']}")
    return JobState(
        build=document["build"],
        flow=document["flow"],
        site=document["site"],
        given=document["given"],
        run=document["run"],
        left_out=document["left_out"],
        choice=Choice(tuple(document["skip"]), tuple(document["only"])),
        steps=tuple(StepRecord(**step) for step in document["steps"]),
    )


def hand_over(job: Job, run: Path) -> str:
    """Write the run to the shared folder if steps have separate artifacts; return what had to be left out.

    Raises:
        UsageError: Even the essential files exceed the limit of the folder.
    """
    if job.steps_share_artifacts or not run.is_dir():
        return ""
    for kept, left_out in (
        (_all_but_reports, ""),
        (_no_measurements, "its results"),
        (_essential, "everything but the files to continue it"),
    ):
        content = _packed(run, kept)
        if job.shared_limit is None or len(content) <= job.shared_limit:
            partial = job.shared / f".{ARCHIVE_FILE}"
            partial.write_bytes(content)
            partial.replace(job.shared / ARCHIVE_FILE)
            return left_out
    raise UsageError(f"{run.name} exceeds the limit of {job.shared}, {job.shared_limit} bytes")


def take_over(job: Job, state: JobState) -> Path | None:
    """Return the directory of the run below this step's artifacts, unpacked if necessary; None before there is a run.

    Raises:
        UsageError: The run of an earlier step is missing.
    """
    if state.run is None:
        return None
    directory, archive = job.artifacts / state.run, job.shared / ARCHIVE_FILE
    if directory.is_dir():
        return directory
    if not archive.is_file():
        raise UsageError(
            f"run {state.run} of an earlier step is neither in {job.artifacts} nor in {job.shared}: set the same "
            "ARTIFACT_DIR or the same SHARED_DIR for all steps"
        )
    job.artifacts.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed:
        packed.extractall(job.artifacts, filter="data")
    return directory


def _packed(run: Path, kept: Callable[[Path], bool]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz", preset=1) as packed:
        for folder, folders, names in os.walk(run):
            folders.sort()
            if Path(folder) == run and REPORT_FOLDER in folders:
                # the next step generates it again
                folders.remove(REPORT_FOLDER)
            packed.add(folder, str(Path(folder).relative_to(run.parent)), recursive=False)
            for path in (Path(folder, name) for name in sorted(names) if name != LOCK_FILE):
                if kept(path.relative_to(run)):
                    with contextlib.suppress(FileNotFoundError):
                        packed.add(path, str(path.relative_to(run.parent)), recursive=False)
    return content.getvalue()


def _all_but_reports(_path: Path) -> bool:
    return True


def _no_measurements(path: Path) -> bool:
    return "artifacts" not in path.parts[:-1] and path.suffix != ".log"


def _essential(path: Path) -> bool:
    return path.name in _ESSENTIAL
