"""Runs the Go tool: fetches pinned modules and builds programs, and reports progress."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from perflab.errors import ClusterError, PrintLine

_SECONDS_BETWEEN_LINES = 10.0
_SET_PARENT_DEATH_SIGNAL = 1
_LAST_LINES = 15
# the programs are stripped: without debug information, a build takes at least a tenth less time
_COMPILER_FLAGS = ("-gcflags=all=-dwarf=false",)


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("GOFLAGS", "GOWORK")}
    return {**inherited, **_cgo(enabled=False), "GOWORK": "off", "GOFLAGS": "-mod=readonly -buildvcs=false"}


def _cgo(*, enabled: bool) -> dict[str, str]:
    # without cgo, no C compiler is needed and the programs run on any Linux
    return {"CGO_ENABLED": str(int(enabled))}


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


@dataclass(slots=True)
class Go:
    """The Go tool at `path`, with an environment that makes builds reproducible."""

    path: Path
    environment: dict[str, str] = field(default_factory=_environment)

    def with_cgo(self) -> Go:
        """Return the tool for programs that are partly written in C."""
        return Go(self.path, {**self.environment, **_cgo(enabled=True)})

    def version(self) -> str:
        """Return a text such as `go version go1.26.8 linux/amd64`."""
        return self._ask(["version"], Path("/")).strip()

    def cache_folders(self) -> dict[str, Path]:
        """Return where Go puts builds and downloads: environment variable → folder."""
        known = json.loads(self._ask(["env", "-json", "GOCACHE", "GOMODCACHE"], Path("/")))
        return {name: Path(folder) for name, folder in known.items()}

    def module_folder(self, work: Path, module: str) -> Path:
        """Return the folder in Go's module cache with the sources of `module`."""
        return Path(self._ask(["list", "-m", "-f", "{{.Dir}}", module], work).strip())

    def download(self, work: Path, module: str) -> Path:
        """Fetch the sources of `module` itself, without its imports; return their folder.

        Raises ClusterError if it cannot be fetched.
        """
        answer = json.loads(self._ask(["mod", "download", "-json", module], work))
        return Path(answer["Dir"])

    def replace(self, work: Path, module: str, folder: Path) -> None:
        """Make builds in *work* use the sources of `module` in *folder*, which is below *work*."""
        self._ask(["mod", "edit", f"-replace={module}=./{folder.relative_to(work)}"], work)

    def fetch(self, work: Path, packages: list[str], tags: str = "") -> int:
        """Fetch the imports of `packages` with these build tags; return the maximum number of packages to compile.

        Raises ClusterError if a module cannot be fetched.
        """
        # not `go mod download`: that also fetches what only the tests of others need
        return len(self._ask(["list", "-deps", "-tags", tags, *packages], work).splitlines())

    def build(
        self, work: Path, packages: list[str], target: Path, linker_flags: str, print_line: PrintLine, tags: str = ""
    ) -> None:
        """Build programs: into the file `target`, or into the folder if it is one.

        `print_line` is called with the number of packages compiled from time to time. Raises ClusterError with the end
        of the compiler's output.
        """
        flags = ["-v", "-trimpath", *_COMPILER_FLAGS, "-ldflags", linker_flags, "-tags", tags, "-o", str(target)]
        command = [str(self.path), "build", *flags, *packages]
        compiled, printed_at, tail = 0, time.monotonic(), list[str]()
        print_line("")
        with subprocess.Popen(  # noqa: S603
            command,
            cwd=work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_die_with_parent,
        ) as process:
            assert process.stderr is not None  # noqa: S101  asked for above
            for line in process.stderr:
                compiled += 1
                tail = [*tail[1 - _LAST_LINES :], line.rstrip()]
                if time.monotonic() - printed_at > _SECONDS_BETWEEN_LINES:
                    printed_at = time.monotonic()
                    print_line(f", {compiled} packages compiled")
        if process.returncode != 0:
            raise ClusterError(_failure(f"go build {' '.join(packages)}", process.returncode, tail))

    def _ask(self, arguments: list[str], work: Path) -> str:
        done = subprocess.run(  # noqa: S603
            [self.path, *arguments],
            cwd=work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_die_with_parent,
        )
        if done.returncode != 0:
            # `go mod download -json` prints errors in its output
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()[-_LAST_LINES:]
            raise ClusterError(_failure(f"go {' '.join(arguments)}", done.returncode, lines))
        return done.stdout


def _failure(what: str, code: int, lines: list[str]) -> str:
    text = "\n  ".join(lines) or "(no output)"
    hint = "If modules cannot be fetched, check the network and `go env GOPROXY`."
    if any("no space left" in line for line in lines):
        hint = "The disk is full: free some space, or point GOCACHE and TMPDIR to a larger one."
    return f"`{what}` failed with code {code}:\n  {text}\n{hint} No partial build was kept; run again."
