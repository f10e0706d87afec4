"""Pass credentials to child processes through their standard input, so that no file or process list contains them."""

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
    """Return a line of the standard input without its end; reads no further, since a select would miss that."""
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


def encode_endpoint(endpoint: ApiEndpoint) -> bytes:
    """Return the API server and the credentials as one line of JSON."""
    # a child process cannot run the credential plugin again: it gets the present token
    token = endpoint.token if endpoint.plugin is None else endpoint.current_token()
    passed = dataclasses.replace(endpoint, token=token, plugin=None)
    values: dict[str, Any] = {field.name: getattr(passed, field.name) for field in dataclasses.fields(passed)}
    for name in _BINARY:
        values[name] = base64.b64encode(values[name]).decode() if values[name] is not None else None
    values["token_file"] = str(values["token_file"]) if values["token_file"] else None
    return json.dumps(values).encode() + b"\n"


def decode_endpoint(text: bytes) -> ApiEndpoint:
    """Return the endpoint of a line; of an empty one, the cluster that the environment defines, such as in a pod.

    Raises:
        ClusterError: If the environment defines none.
    """
    if not text.strip():
        return load_endpoint()
    values = json.loads(text)
    for name in _BINARY:
        values[name] = base64.b64decode(values[name]) if values[name] is not None else None
    values["token_file"] = Path(values["token_file"]) if values["token_file"] else None
    return ApiEndpoint(**values)
