"""A job while it runs, and its files, which are written at any end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import (
    Redactor,
    credentials_of_environment,
    scan_directory,
)
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import remembered_values
from perfdrv.errors import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, UsageError, exit_code_of
from perfdrv.project import shown_path

from perfci.jobs.job import Job, System
from perfci.jobs.records import Report, write_files
from perfci.jobs.run_log import RUN_LOG, copy_output
from perfci.jobs.state import JobState, StepRecord, hand_over, write_state

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class JobSession:
    """A job while it runs.

    Attributes:
        words: The command, such as `perfdrv ci run FLOW`.
        state: What later steps read; None before the job is accepted.
        run: Directory of the run; None before there is one.
        why: The error of the job; empty if it has none.
        sends_notifications: Whether notifications about the run are sent at the end.
        remarks: Additional lines of the summary.
    """

    def __init__(self, system: System, job: Job, words: str) -> None:
        self.system = system
        self.job = job
        self.words = words
        self.state: JobState | None = None
        self.run: Path | None = None
        self.why = ""
        self.sends_notifications = False
        self.remarks: tuple[str, ...] = ()
        self._started = time.monotonic()
        self._redactor = Redactor(credentials_of_environment())
        self._own_secrets: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def redact(self, text: str) -> str:
        """Return a text without the known secrets."""
        redacted: str = self._redactor.redact(text)
        return redacted

    def hide(self, *values: str) -> None:
        """Redact these secrets in all further output."""
        self._own_secrets += values
        for value in values:
            self._redactor.add(value)

    def hide_secrets_of_run(self) -> list[str]:
        """Redact the secrets of the run too, and return all known secrets."""
        of_run = remembered_values(self.run, _no_vault) if self.run else ()
        values = [*credentials_of_environment(), *self._own_secrets, *of_run]
        for value in values:
            self._redactor.add(value)
        return values

    def save(self, record: StepRecord) -> None:
        """Record the result of a step for later steps."""
        if self.state is not None:
            self.state = replace(self.state.with_step(record), run=self.run.name if self.run else self.state.run)
            write_state(self.job, self.state)

    def record_left_out(self, what: str) -> None:
        """Record for later steps which parts are missing in their copy of the run."""
        if self.state is not None:
            self.state = replace(self.state, left_out=what)
            write_state(self.job, self.state)

    def write(self, exit_code: int) -> None:
        """Write all files of the job, with its current state."""
        self.hide_secrets_of_run()
        steps = self.state.steps if self.state else ()
        report = Report(self.words, exit_code, self.seconds, self.run, self.why, steps, self.remarks)
        links, summary = write_files(self.job, report, self.redact)
        self.links, self.summary = links, summary

    def show(self) -> None:
        """Show links and summary in the CI system."""
        self.system.show(self.job, self.links, self.summary, os.environ)


def _no_vault(_name: str) -> None:
    """Return no value: only Ansible reads a vault, and it has searched the run for these values."""


def carry_out(system: System, job: Job, words: str, perform: Callable[[JobSession], int]) -> int:
    """Carry out a job or a step, write its files at any end, and return the exit code.

    Raises:
        Exception: An internal error, after the files are written.
    """
    job.artifacts.mkdir(parents=True, exist_ok=True)
    session = JobSession(system, job, words)
    with copy_output(job.artifacts / RUN_LOG, session.redact):
        unexpected: Exception | None = None
        try:
            code = perform(session)
        except (KeyboardInterrupt, click.exceptions.Abort):
            code, session.why = EXIT_INTERRUPTED, "interrupted"
        except Exception as error:
            known = exit_code_of(error)
            code, session.why = EXIT_INTERNAL if known is None else known, str(error)
            unexpected = error if known is None else None
        with _signals_ignored():
            if session.why:
                click.echo(f"Error: {session.why}", err=True)
            code = _end(session, code)
            click.echo(f"{words}: exit code {code}; files in {shown_path(job.artifacts)}")
    _refuse_leaks(session)
    if unexpected is not None:
        raise unexpected
    return code


def _end(session: JobSession, code: int) -> int:
    """Close the running step in the state, pass the run on, and write the files."""
    state = session.state
    for record in state.steps if state else ():
        if record.status == "running":
            status = "interrupted" if code == EXIT_INTERRUPTED else "failed"
            session.save(replace(record, status=status, exit_code=code, ended=utc_now(), why=session.why))
    try:
        if session.run is not None:
            left_out = hand_over(session.job, session.run)
            if left_out:
                click.echo(
                    f"later steps get the run without {left_out}: the whole run is too large for {session.job.shared}"
                )
                session.record_left_out(left_out)
    except (OSError, UsageError) as error:
        click.echo(f"Error: cannot pass the run to later steps: {error}", err=True)
        code = code or EXIT_FAILED
    session.write(code)
    session.show()
    return code


def _refuse_leaks(session: JobSession) -> None:
    """Fail a job whose own files contain a secret, and redact it.

    Raises:
        UsageError: A file contains a secret; the message names the files.
    """
    values = session.hide_secrets_of_run()
    artifacts = session.job.artifacts
    # the run itself has been searched when it was concluded
    mine = {path for path in artifacts.iterdir() if path.is_file()}
    hits = sorted({hit.path for hit in scan_files(mine, values)})
    for path in hits:
        path.write_text(session.redact(path.read_text(encoding="utf-8", errors="replace")), encoding="utf-8")
    if hits:
        names = ", ".join(path.name for path in hits)
        raise UsageError(f"plain-text secret found in {names} and redacted: find out what printed it")


def scan_files(paths: set[Path], values: Sequence[str]) -> Iterator[Any]:
    """Yield each occurrence of a value in these files."""
    for folder in {path.parent for path in paths}:
        yield from (hit for hit in scan_directory(folder, values) if hit.path in paths)


@contextlib.contextmanager
def _signals_ignored() -> Iterator[None]:
    """Ignore signals while the files are written."""
    former = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
