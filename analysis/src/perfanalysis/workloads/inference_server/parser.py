"""Read how an inference server was started."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from perfanalysis.files.source import Source


def parse(source: Source) -> dict[str, Any]:
    """The only server of inference_server.yml, and a row for each request to it."""
    (document,) = source.records("inference_server.yml")
    row = {"server": document["server"], "model": PurePosixPath(document["model"]).name}
    return {"servers": [row | {"ready_s": document["ready_s"]}], "requests": document.get("requests", [])}
