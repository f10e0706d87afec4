"""Run the program openshift-install step by step, follow and interrupt it, and read its results.

It stores its state only in its folder: ``create ignition-configs`` writes ``metadata.json``, which is needed to destroy
the cluster, before it creates any resource.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any, TextIO

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

LOG = "openshift-install.log"
METADATA = "metadata.json"
# variable of the installer and of the servers and controllers that it starts
_FOLDER = "PERF_INSTALL_FOLDER"
_LINE = re.compile(r'(?:time="?(?P<time>[^" ]+)"?\s+)?level=(?P<level>\w+)\s+msg=(?P<message>.*)')
_PASSWORD = re.compile(
    r"(?P<kept>\bpassword:?\s*\\*\"?|kubeadmin -p )(?P<password>[A-Za-z0-9]{5}(?:-[A-Za-z0-9]{5}){3})"
)
_CONSOLE = re.compile(r"Access the OpenShift web-console here: (https://\S+)")
# the first line begins with the path by which the program was started
_VERSION = re.compile(r"^\S.* v?(\S+)\nbuilt from commit ", re.MULTILINE)
_ARCHITECTURE = re.compile(r"^release architecture (\S+)", re.MULTILINE)
_FIPS_ENABLED = Path("/proc/sys/crypto/fips_enabled")
# exit codes, from cmd/openshift-install/create.go
_CODES = {
    3: "its install-config is refused",
    4: "the infrastructure could not be created",
    5: "the bootstrap did not complete",
    6: "the cluster did not complete its installation",
    7: "operators of the cluster are not stable",
}
_LAST_LINES = 4
_GRACE_S = 20.0
_POLL_S = 0.25
_SHORT_S = 60.0
# files of a bundle of logs that are unpacked; others are binary, and some are very long
_TEXTS = (".log", ".txt", ".json", ".status", ".yaml")
_MOST_BYTES = 5 << 20


class InstallError(PerfError):
    """The installer ended with an error."""

    def __init__(self, message: str, code: int) -> None:
        """Store *code*, its exit code."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that are called while the installer runs.

    Args:
        check: Raises Interrupted if the user stops the run.
        show: Shows the progress.
        redact: Removes secrets from a text.
    """

    check: Callable[[], None]
    show: Callable[[str], None]
    redact: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Release:
    """The release of an installer and of the clusters that it creates.

    Args:
        version: For example ``4.18.3``.
        architecture: Architecture of its machines, ``multi`` or ``unknown``; empty if the installer prints none.
    """

    version: str
    architecture: str


class Installer:
    """The program, for one cluster.

    Args:
        program: Its path, or its name in PATH.
        environment: Additional variables, with the paths of credentials, never their values.
        log: File for its output, without secrets.
    """

    def __init__(self, program: str, environment: Mapping[str, str], log: Path, hooks: Hooks) -> None:
        """Find the program, or raise a UsageError."""
        found = shutil.which(str(Path(program).expanduser()) if "/" in program else program)
        if found is None:
            raise UsageError(
                f"the program {program} does not exist: get openshift-install of the required release from "
                "https://mirror.openshift.com, and set its path"
            )
        self.program = str(Path(found).absolute())
        self._environment = {**os.environ, **environment}
        self._log, self._hooks = log, hooks
        self.console = ""

    def release(self) -> Release:
        """Return the release of the program, or raise a UsageError if it prints none."""
        try:
            done = subprocess.run(  # noqa: S603 - the program that the user named
                [self.program, "version"], capture_output=True, text=True, timeout=_SHORT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"cannot run {self.program}: {error}") from error
        found = _VERSION.search(done.stdout)
        if done.returncode or not found:
            raise UsageError(f"{self.program} is not openshift-install: it printed {done.stdout.strip()[:200]!r}")
        architecture = _ARCHITECTURE.search(done.stdout)
        return Release(found[1], architecture[1] if architecture else "")

    def run(self, folder: Path, step: str, timeout_s: float) -> None:
        """Run a step, such as ``create manifests``, in *folder*, and wait for its end.

        Raises:
            InstallError: If it fails.
            WaitTimeoutError: If it does not end in time; it is then stopped.
        """
        command = [self.program, *step.split(), "--dir", str(folder), "--log-level", "info"]
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{utc_now()} openshift-install {step}\n")
            process = subprocess.Popen(  # noqa: S603 - as above
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**self._environment, _FOLDER: str(folder)},
                # a terminal's Ctrl-C must not reach it directly, and it ends with this process
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
            with process, _stop_after(process):
                last = self._follow(process, step, timeout_s, log)
        if process.returncode:
            raise InstallError(_failure(step, process.returncode, last, self._log), process.returncode)

    def _follow(self, process: subprocess.Popen[str], step: str, timeout_s: float, log: TextIO) -> list[str]:
        """Write its output to the log until it ends, and return the last errors, or the last lines without any."""
        until = time.monotonic() + timeout_s
        lines: Queue[str | None] = Queue()
        threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True).start()
        errors: deque[str] = deque(maxlen=_LAST_LINES)
        others: deque[str] = deque(maxlen=_LAST_LINES)
        while True:
            self._hooks.check()
            if time.monotonic() >= until:
                shown = others[-1] if others else "nothing"
                raise WaitTimeoutError(
                    f"openshift-install {step} did not end within {timeout_s:.0f} s; its last output: {shown}"
                )
            try:
                line = lines.get(timeout=_POLL_S)
            except Empty:
                continue
            if line is None:
                process.wait()
                return list(errors or others)
            level, message = self._parse(line)
            log.write(f"{utc_now()} {level:<7} {message}\n")
            log.flush()
            (errors if level in ("error", "fatal") else others).append(message)
            self._hooks.show(f"{step}: {message}"[:300])

    def _parse(self, line: str) -> tuple[str, str]:
        level, message = parse_line(line)
        console = _CONSOLE.search(message)
        if console:
            self.console = console[1]
        return level, clean(message, self._hooks.redact)


def require_fips_host(enabled: Path = _FIPS_ENABLED) -> None:
    """Raise a UsageError unless this host is in FIPS mode, which the installer requires for a cluster with FIPS.

    Args:
        enabled: File of the kernel with the mode.
    """
    try:
        on = enabled.read_text(encoding="ascii").strip() == "1"
    except OSError:
        on = False
    if not on:
        raise UsageError(
            f"cannot create a cluster with FIPS cryptography from this host: {enabled} is not 1; run the FIPS-capable "
            "installer, openshift-install-fips, on a host in FIPS mode"
        )


def kill_left(folder: Path) -> int:
    """Kill processes of a killed installer for *folder*, which would continue to create resources; return how many."""
    mark, killed = f"{_FOLDER}={folder}".encode(), 0
    for entry in Path("/proc").iterdir():
        # it ended meanwhile, or belongs to another user
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
                killed += 1
    return killed


def parse_line(line: str) -> tuple[str, str]:
    """Return level and message of a line of the installer; a line in another format has the level ``output``."""
    found = _LINE.match(line.strip())
    if found is None:
        return "output", line.rstrip()
    message = found["message"].strip()
    if message.startswith('"'):
        with contextlib.suppress(ValueError):
            message = str(json.loads(message))
    return found["level"], message


def clean(text: str, redact: Callable[[str], str]) -> str:
    """Return *text* without known secrets, secrets of known formats, and the password that the installer prints."""
    return hide(redact(_PASSWORD.sub(lambda found: f"{found['kept']}(secret)", text)))


def read_metadata(folder: Path) -> dict[str, Any]:
    """Return the metadata for destroying a cluster, without secrets; empty if the installer has not written them yet.

    Raises:
        PerfError: If they name no cluster.
    """
    path = folder / METADATA
    if not path.exists():
        return {}
    found = read_json(path)
    if not found.get("infraID"):
        raise PerfError(f"{path} names no infraID")
    return found


def read_manifests(folder: Path) -> dict[str, Manifest]:
    """Return the installer's manifests by their paths below *folder*."""
    found = {}
    for path in (*folder.glob("manifests/*.y*ml"), *folder.glob("openshift/*.y*ml")):
        with contextlib.suppress(yaml.YAMLError):
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
            if isinstance(document, dict):
                found[str(path.relative_to(folder))] = document
    return found


def write_manifests(folder: Path, manifests: Mapping[str, Manifest]) -> None:
    """Write manifests to their paths below *folder*."""
    for path, manifest in manifests.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(yaml_text(manifest), encoding="utf-8")


def unpack_logs(folder: Path, target: Path, redact: Callable[[str], str]) -> list[str]:
    """Unpack text files of the bundles of ``gather bootstrap`` in *folder* to *target*, without secrets.

    Keys and kubeconfigs in a bundle are not unpacked.

    Returns:
        The paths of the written files below *target*.
    """
    written = []
    for bundle in sorted(folder.glob("log-bundle-*.tar.gz")):
        with tarfile.open(bundle, "r:gz") as archive:
            for member in archive:
                path = Path(member.name)
                if not member.isfile() or path.suffix not in _TEXTS or ".." in path.parts or path.is_absolute():
                    continue
                stream = archive.extractfile(member)
                text = stream.read(_MOST_BYTES).decode("utf-8", "replace") if stream else ""
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_text(clean(text, redact), encoding="utf-8")
                written.append(str(path))
    return written


@contextlib.contextmanager
def _stop_after(process: subprocess.Popen[str]) -> Iterator[None]:
    """End the process after the block: by an interrupt, so that it can clean up, then by a kill."""
    try:
        yield
    finally:
        for number, patience_s in ((signal.SIGINT, _GRACE_S), (signal.SIGKILL, None)):
            if process.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience_s)


def _read_lines(stream: IO[str] | None, lines: Queue[str | None]) -> None:
    with contextlib.suppress(ValueError):
        # the stream was closed, since the process was stopped
        for line in stream or ():
            lines.put(line)
    lines.put(None)


def _failure(step: str, code: int, last: list[str], log: Path) -> str:
    reason = _CODES.get(code) or (f"signal {-code}" if code < 0 else f"exit code {code}")
    output = "; ".join(last) or "no output"
    return f"openshift-install {step} failed, {reason}: {output}; its log is {log.name} among the artifacts"
