"""How processes of ours beside the one that records are handed their credentials: through the standard input, so that
they stand in no file and no list of processes."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint

_BINARY = ("certificate_authority", "client_certificate", "client_key")


def read_line() -> bytes:
    """A line of the standard input without its end, byte by byte: what is read ahead would not be seen by a select."""
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


def encoded(endpoint: ApiEndpoint) -> bytes:
    """The API server and our credentials as one line of JSON."""
    # a process of its own cannot ask the credential plugin again: it gets the present token
    token = endpoint.token if endpoint.plugin is None else endpoint.current_token()
    handed_over = dataclasses.replace(endpoint, token=token, plugin=None)
    given: dict[str, Any] = {field.name: getattr(handed_over, field.name) for field in dataclasses.fields(handed_over)}
    for name in _BINARY:
        given[name] = base64.b64encode(given[name]).decode() if given[name] is not None else None
    given["token_file"] = str(given["token_file"]) if given["token_file"] else None
    return json.dumps(given).encode() + b"\n"


def handed(text: bytes) -> ApiEndpoint:
    """What the standard input held; nothing there is the cluster that the environment names, as in a pod.

    :raises ClusterError: when the environment names none.
    """
    if not text.strip():
        return load_endpoint()
    given = json.loads(text)
    for name in _BINARY:
        given[name] = base64.b64decode(given[name]) if given[name] is not None else None
    given["token_file"] = Path(given["token_file"]) if given["token_file"] else None
    return ApiEndpoint(**given)
