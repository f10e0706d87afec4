"""How processes of ours beside the one that records are called, and handed their credentials: through the standard
input, so that they stand in no file and no list of processes."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.endpoint import ApiEndpoint, load_endpoint

_PROGRAM = Path(__file__).with_name("child_process.py")
_BINARY = ("certificate_authority", "client_certificate", "client_key")


def child_command(module: str, *arguments: str) -> list[str]:
    """The command line that calls ``main`` of *module*, named from ``scale_test``."""
    # -P: the program's own folder is no place to import from
    return [sys.executable, "-P", str(_PROGRAM), module, *arguments]


def read_line() -> bytes:
    """A line of the standard input without its end, byte by byte: what is read ahead would not be seen by a select."""
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


@dataclasses.dataclass(frozen=True, slots=True)
class Handed:
    """The API server, and the id of the process that may not be outlived (None: nobody is to be waited for)."""

    endpoint: ApiEndpoint
    parent: int | None = None

    def encoded(self) -> bytes:
        """One line of JSON."""
        given: dict[str, Any] = {
            field.name: getattr(self.endpoint, field.name) for field in dataclasses.fields(self.endpoint)
        }
        for name in _BINARY:
            given[name] = base64.b64encode(given[name]).decode() if given[name] is not None else None
        given["token_file"] = str(given["token_file"]) if given["token_file"] else None
        return json.dumps({"endpoint": given, "parent": self.parent}).encode() + b"\n"


def handed(text: bytes) -> Handed:
    """What the standard input held; nothing there is the cluster that the environment names, as in a pod.

    :raises ClusterError: when the environment names none.
    """
    if not text.strip():
        return Handed(load_endpoint())
    document = json.loads(text)
    given = document["endpoint"]
    for name in _BINARY:
        given[name] = base64.b64decode(given[name]) if given[name] is not None else None
    given["token_file"] = Path(given["token_file"]) if given["token_file"] else None
    return Handed(ApiEndpoint(**given), document["parent"])
