"""Read the start of an inference server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from perfanalysis.files.recording_files import RecordingFiles


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return the only server of inference_server.yml, and a row for each request to it."""
    (document,) = source.records("inference_server.yml")
    row = {"server": document["server"], "model": PurePosixPath(document["model"]).name}
    return {
        "servers": [row | {"ready_s": document["ready_s"]}],
        "requests": [
            {**asked, "prompt_rate": _rate(asked, "prompt"), "generated_rate": _rate(asked, "generated")}
            for asked in document.get("requests", [])
        ],
    }


def _rate(asked: Mapping[str, Any], what: str) -> float | None:
    """Return tokens per second, as the server states; None if it does not."""
    tokens, took_s = asked.get(f"{what}_tokens"), asked.get(f"{what}_s")
    return tokens / took_s if tokens and took_s else None
