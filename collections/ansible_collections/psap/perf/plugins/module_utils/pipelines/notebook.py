"""Run a notebook in its pod, and read the files that it leaves there."""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import Requested

_MOST_BYTES = 32 << 20

Run = Callable[[Sequence[str], BinaryIO], Executed]


def execute(run: Run, program: str, notebook: str, log: Path) -> None:
    """Execute *notebook* by the *program* in the pod, and write its output to *log*.

    Args:
        run: Runs a program in the pod, with its output in the stream.

    Raises:
        ClusterError: If it fails; the message has the end of its error output.
    """
    with log.open("wb") as stream:
        done = run(["python3", program, "run", notebook], stream)
    if done.exit_code:
        lines = [line.strip() for line in done.errors.splitlines() if line.strip()]
        # the last line of a traceback has the error
        last = lines[-1] if lines else "see its output"
        raise ClusterError(f"the notebook {notebook} failed with exit code {done.exit_code}: {last}")


def fetch_results(run: Run, program: str, folder: Path) -> list[str]:
    """Write the files of the results to *folder*, and return their names.

    Raises:
        ClusterError: If they cannot be read, or have more than 32 MiB.
    """
    archive = _Limited()
    done = run(["python3", program, "results"], archive)
    if done.exit_code:
        raise ClusterError(f"cannot read the results of the notebook: {done.errors}")
    archive.seek(0)
    names = []
    try:
        with tarfile.open(fileobj=archive) as members:
            for member in members:
                # only a file's name: the pod may send any path
                name, content = Path(member.name).name, members.extractfile(member) if member.isfile() else None
                if content is not None and name:
                    folder.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(content.read())
                    names.append(name)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ClusterError(f"the results of the notebook are damaged: {error}") from error
    return names


class _Limited(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() + len(data) > _MOST_BYTES:
            raise ClusterError(f"the results of the notebook have more than {_MOST_BYTES >> 20} MiB")
        return super().write(data)


def within(timeout_s: float, what: str, check: Callable[[], None]) -> Callable[[], None]:
    """Return *check* that also raises a WaitTimeoutError *timeout_s* from now."""
    deadline = time.monotonic() + timeout_s

    def check_both() -> None:
        check()
        if time.monotonic() > deadline:
            raise WaitTimeoutError(f"{what} has not ended within {timeout_s:g} s")

    return check_both


def requested_runs(names: Sequence[str], recorded: Sequence[Mapping[str, Any]], failure: str = "") -> list[Requested]:
    """Return the runs of *names*, with what the notebook recorded about them.

    Args:
        recorded: The contents of ``runs.json``; empty if the notebook does not write it.
        failure: Why the notebook ended early; then runs that it did not record were not requested.
    """
    known = {str(each.get("name")): each for each in recorded}
    missing = f"not requested: {failure}" if failure else ""
    return [
        Requested(name, _number(known[name].get("asked_s")), str(known[name].get("error") or ""))
        if name in known
        else Requested(name, error=missing)
        for name in names
    ]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def read_runs(path: Path) -> list[Mapping[str, Any]]:
    """Return the contents of ``runs.json``; empty if it is missing.

    Raises:
        ClusterError: If it is not a list of runs.
    """
    if not path.exists():
        return []
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ClusterError(f"{path.name} of the notebook is not JSON: {error}") from error
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise ClusterError(f"{path.name} of the notebook is not a list of runs")
    return runs
