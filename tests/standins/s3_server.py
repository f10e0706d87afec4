"""A real S3 server, versitygw, on the loopback interface or another one: built by the lab's builder at first use."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import boto3
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from perflab.building.build import ensure_binaries
from perflab.building.components import S3_SERVER
from perflab.files import places
from perflab.processes.ports import LOOPBACK, free_ports

IDENTITY, SECRET = "exporter", "planted-store-w0rd"
CREDENTIALS = f"[default]\naws_access_key_id = {IDENTITY}\naws_secret_access_key = {SECRET}\n"
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a server's certificate, its key, and the authority that clients trust."""

    certificate: Path
    key: Path
    authority: Path


@dataclass(slots=True)
class S3Server:
    """A server whose buckets are the folders of *root*; it can be killed and restarted."""

    root: Path
    port: int
    program: Path
    host: str = LOOPBACK
    tls: Tls | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    @property
    def access(self) -> Access:
        """The access of a permitted user."""
        authority = str(self.tls.authority) if self.tls else ""
        return Access(self.endpoint, authority=authority, keys=Keys(IDENTITY, SECRET))

    def bucket(self, name: str) -> Store:
        """Return a bucket of this name; create it if missing."""
        client = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=IDENTITY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            verify=str(self.tls.authority) if self.tls else None,
        )
        if name not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
            client.create_bucket(Bucket=name)
        client.close()
        return Store(self.access, name)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        environment = {"PATH": os.environ["PATH"], "ROOT_ACCESS_KEY": IDENTITY, "ROOT_SECRET_KEY": SECRET}
        words = ["--port", f"{self.host}:{self.port}", "--quiet", "--health", "/health", "posix"]
        words[:0] = ["--cert", str(self.tls.certificate), "--key", str(self.tls.key)] if self.tls else []
        sidecar = self.root.with_name("metadata")
        for folder in (self.root, sidecar):
            folder.mkdir(exist_ok=True)
        # some file systems of tests have no extended attributes
        command = [str(self.program), *words, "--sidecar", str(sidecar), str(self.root)]
        with self.root.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        deadline = time.monotonic() + _PATIENCE_S
        log_file = self.root.with_suffix(".log")
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < deadline, log_file.read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server, like a power cut."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        context = ssl.create_default_context(cafile=str(self.tls.authority)) if self.tls else None
        try:
            with urllib.request.urlopen(f"{self.endpoint}/health", timeout=5, context=context) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextmanager
def s3_server(folder: Path, host: str = LOOPBACK, tls: Tls | None = None) -> Iterator[S3Server]:
    """Run a server during the block, with its data in *folder*."""
    program = ensure_binaries(places.cache_root(), lambda text: print(text, file=sys.stderr), S3_SERVER)
    server = S3Server(folder / "buckets", free_ports(["s3"])["s3"], program.program("versitygw"), host, tls)
    server.start()
    try:
        yield server
    finally:
        server.kill()
