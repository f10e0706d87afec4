"""``waiting.json`` of a command: what it waits for, since when, and the progress, for the driver and users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json


@contextmanager
def shown_wait(directory: Path | None, what: str, timeout_s: float) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes changed progress to *directory*, if not None; delete the file at the end."""
    path = directory / "waiting.json" if directory else None
    document = {"schema": "psap.perf/waiting/1", "what": what, "since": utc_now(), "timeout_s": timeout_s}
    last = ""

    def show(text: str) -> None:
        nonlocal last
        if path and text != last:
            last = text
            write_json(path, {**document, "last": text})

    try:
        yield show
    finally:
        if path:
            path.unlink(missing_ok=True)
