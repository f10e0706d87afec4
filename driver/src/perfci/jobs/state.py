"""What the steps of a job, processes and perhaps containers of their own, know of each other.

A small document in the folder that they share says which run it is and what became of each step. Where they have a
folder of artifacts each, the run itself goes through the shared folder too, as an archive: whole where there is room,
else what says what it is, without what it measured.
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
# what a later step needs to go on with the run
_OF_RUN = ("run.json", "settings.yml", "failures.jsonl", "timeline.csv", "secrets.txt")
_ESSENTIAL = frozenset((*_OF_RUN, "args.yml", "status.json", "cell.json", "FAILURE"))


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What became of a step: `ok`, `failed`, `refused`, `interrupted`, `killed`, `skipped`, `not run`, `running`."""

    name: str
    status: str
    exit_code: int
    started: str
    ended: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """The document.

    Attributes:
        run: name of the run's directory below the artifacts; None before there is one.
        choice: steps that are left out for the whole job.
        given: a digest of the settings that the first step was given, to which the others must agree.
        left_out: what later steps do not get of the run, since there is no room for it; empty where they get all.
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
        """What became of each step so far."""
        return {step.name: step.status for step in self.steps}

    def record_of(self, name: str) -> StepRecord | None:
        """What became of a step."""
        return next((step for step in self.steps if step.name == name), None)

    def with_step(self, record: StepRecord) -> JobState:
        """With this in the place of what was known of the step."""
        return replace(self, steps=(*(step for step in self.steps if step.name != record.name), record))


def begun(name: str) -> StepRecord:
    """The record of a step that begins."""
    return StepRecord(name, "running", 0, utc_now())


def digest(words: Sequence[str]) -> str:
    """What tells settings that were given from others, without saying them."""
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()[:16]


def read_state(job: Job) -> JobState | None:
    """What earlier steps of this build left; None for the first one.

    Raises:
        UsageError: the file is no such document, or that of another build.
    """
    path = job.shared / STATE_FILE
    if not path.is_file():
        return None
    document = read_json(path)
    try:
        state = _from_document(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no state of a job ({type(error).__name__}: {error}); remove it.") from error
    if state.build != job.identity:
        raise UsageError(
            f"{path} is that of {state.build or 'another job'}, and this is {job.identity}: remove it, or give this "
            "job another SHARED_DIR."
        )
    return state


def write_state(job: Job, state: JobState) -> None:
    """Leave the document for later steps."""
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
    """Put the run into the shared folder, where steps have artifacts each; says what had to be left out of it."""
    if job.steps_share_artifacts or not run.is_dir():
        return ""
    for kept, left_out in (
        (_all_but_reports, ""),
        (_no_measurements, "what was measured"),
        (_essential, "all but what it takes to go on"),
    ):
        content = _packed(run, kept)
        if job.shared_limit is None or len(content) <= job.shared_limit:
            partial = job.shared / f".{ARCHIVE_FILE}"
            partial.write_bytes(content)
            partial.replace(job.shared / ARCHIVE_FILE)
            return left_out
    raise UsageError(f"{run.name} does not fit into {job.shared}, which may have {job.shared_limit} bytes.")


def take_over(job: Job, state: JobState) -> Path | None:
    """The directory of the run below this step's artifacts, unpacked where it is not there; None before there is one.

    Raises:
        UsageError: an earlier step had a run that is not to be found.
    """
    if state.run is None:
        return None
    directory, archive = job.artifacts / state.run, job.shared / ARCHIVE_FILE
    if directory.is_dir():
        return directory
    if not archive.is_file():
        raise UsageError(
            f"The run {state.run} of an earlier step is neither in {job.artifacts} nor in {job.shared}: give all steps "
            "one ARTIFACT_DIR, or one SHARED_DIR."
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
                # the next step makes it again
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
