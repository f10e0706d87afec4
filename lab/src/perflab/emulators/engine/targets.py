"""Serves the pages of metrics of all products over HTTP on loopback, and lists them for the lab's Prometheus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import Document
from perflab.emulators.engine.product import ProductError
from perflab.processes.ports import LOOPBACK

# one write for many changes
_GATHER_S = 0.1


class Targets:
    """The scraped targets; a page is rendered when Prometheus requests it."""

    name = "metrics"

    def __init__(self, folder: Path) -> None:
        """*folder* is that of the lab's files of targets; *pages* will be scraped: path → labels and page."""
        self._file = folder / "emulators.json"
        self.pages: dict[str, tuple[dict[str, str], Callable[[], str]]] = {}
        self._changed = asyncio.Event()

    def set(self, path: str, labels: dict[str, str], page: Callable[[], str]) -> None:
        """Add *path* with these labels."""
        if path not in self.pages or self.pages[path][0] != labels:
            self._changed.set()
        self.pages[path] = labels, page

    def remove(self, path: str) -> None:
        """Remove *path*."""
        if self.pages.pop(path, None):
            self._changed.set()

    async def run(self) -> None:
        """Serve until cancelled."""
        app = web.Application()
        app.router.add_get("/{path:.+}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, 0).start()
        port = runner.addresses[0][1]
        try:
            while True:
                self._write(port)
                await self._changed.wait()
                await asyncio.sleep(_GATHER_S)
                self._changed.clear()
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        found = self.pages.get(request.match_info["path"])
        if found is None:
            return web.Response(status=404, text="no such target\n")
        try:
            return web.Response(text=found[1]())
        except ProductError as error:
            return web.Response(status=500, text=f"{error}\n")

    def _write(self, port: int) -> None:
        """Write the list atomically: Prometheus may read the file at any time."""
        listed = [_target(port, path, labels) for path, (labels, _) in sorted(self.pages.items())]
        text = json.dumps(listed, indent=1)
        if not listed and not self._file.exists():
            return
        if not self._file.exists() or self._file.read_text() != text:
            self._file.parent.mkdir(exist_ok=True)
            unfinished = self._file.with_suffix(".new")
            unfinished.write_text(text)
            unfinished.replace(self._file)


def _target(port: int, path: str, labels: dict[str, str]) -> Document:
    return {"targets": [f"{LOOPBACK}:{port}"], "labels": {"__metrics_path__": f"/{path}", **labels}}
