"""A real OpenSearch for the tests: its jars, locked by hash and cached per user, and one node."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "jars.lock"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
ADDRESS = re.compile(r"AbstractHttpServerTransport\].*publish_address \{(127\.0\.0\.1:\d+)\}")
LONGEST_START_S = 600


def jars() -> Path:
    """Return the folder of the jars in the lock; if missing, fetch it with Maven and check it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "psap-perf"
    folder = cache / f"opensearch-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    if not folder.exists():
        if shutil.which("mvn") is None:
            raise RuntimeError("Maven is missing, which fetches the tests' OpenSearch: apt-get install maven")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as work:
            _fetch(Path(work))
            found = Path(work) / "jars"
            if not folder.exists():
                found.rename(folder)
    return folder


def _fetch(work: Path) -> None:
    where = [
        f"-Dmaven.repo.local={work / 'repository'}",
        f"-DoutputDirectory={work / 'jars'}",
        "-DincludeScope=runtime",
    ]
    command = ["mvn", "--batch-mode", "--quiet", "--file", str(HERE / "pom.xml"), COPY, *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Maven failed to fetch OpenSearch: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    wanted = {name: digest for digest, name in (line.split() for line in LOCK.read_text().splitlines())}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (work / "jars").iterdir()}
    if found != wanted:
        different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise RuntimeError(f"files that differ from {LOCK.name}: {', '.join(different)}")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run one node with its data in *folder*, on free ports; yield its address."""
    log = folder / "node.log"
    command = [
        "java",
        "-Xmx1g",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        f"{jars()}/*",
        str(HERE / "Node.java"),
        str(folder / "data"),
    ]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
        try:
            yield f"http://{_address(process, log)}"
        finally:
            # its data is deleted with the tests, so an orderly shutdown is unnecessary
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    limit = time.monotonic() + LONGEST_START_S
    while time.monotonic() < limit:
        text = log.read_text(errors="replace")
        address = ADDRESS.search(text)
        if address is not None and "started" in text[address.end() :]:
            return address[1]
        if process.poll() is not None:
            raise RuntimeError(f"OpenSearch ended with {process.returncode}: {text[-3000:]}")
        time.sleep(0.2)
    raise RuntimeError(f"OpenSearch did not start within {LONGEST_START_S} s: {log.read_text()[-3000:]}")
