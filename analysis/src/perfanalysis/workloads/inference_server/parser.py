"""Read how an inference server was started."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from perfanalysis.files.source import Source


def parse(source: Source) -> dict[str, Any]:
    """The only row, of inference_server.yml."""
    (document,) = source.records("inference_server.yml")
    row = {"server": document["server"], "model": PurePosixPath(document["model"]).name}
    return {"servers": [row | {"ready_s": document["ready_s"]}]}
