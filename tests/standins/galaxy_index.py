"""Galaxy's API, version 3, for reading one version of one collection, as `ansible-galaxy collection install` does."""

from __future__ import annotations

import hashlib
import http.server
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.standins.http_servers import Quiet, served

_TIME = "2026-01-01T00:00:00Z"


@contextmanager
def served_collection(tarball: Path) -> Iterator[str]:
    """Serve a collection's tarball and its metadata until the block ends; yield the address of the server."""
    with tarfile.open(tarball) as archive:
        manifest = archive.extractfile("MANIFEST.json")
        assert manifest is not None
        about = json.load(manifest)["collection_info"]
    contents = tarball.read_bytes()
    collection = f"/api/v3/collections/{about['namespace']}/{about['name']}/"
    version = f"{collection}versions/{about['version']}/"
    answers: dict[str, Any] = {
        "/api/": {"available_versions": {"v3": "v3/"}},
        collection: {"created_at": _TIME, "updated_at": _TIME},
        f"{collection}versions/": {"data": [{"version": about["version"]}], "links": {"next": None}},
        version: {
            "namespace": {"name": about["namespace"]},
            "collection": {"name": about["name"]},
            "version": about["version"],
            "href": version,
            "download_url": f"/artifacts/{tarball.name}",
            "artifact": {"sha256": hashlib.sha256(contents).hexdigest()},
            "metadata": {"dependencies": about["dependencies"]},
        },
    }
    bodies = {path: json.dumps(answer).encode() for path, answer in answers.items()}
    bodies[f"/artifacts/{tarball.name}"] = contents

    class Handler(Quiet, http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = bodies.get(self.path.partition("?")[0])
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

    with served(Handler) as address:
        yield address
