"""A scripted API server for the core of the emulators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from perflab.cluster.api import Document


def pod(name: str, version: int, **more: Any) -> Document:
    metadata = {"namespace": "n", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version), **more}
    return {"metadata": metadata}


class FakeApi:
    """Answer lists and watches from a script; the last watch never ends. Creations have versions from 1 on."""

    def __init__(
        self, lists: list[list[Document]] | None = None, watches: list[list[Document] | Exception] | None = None
    ) -> None:
        self.lists = lists or []
        self.watches = watches or []
        self.asked: list[str] = []
        self.created = 0

    async def get(self, path: str) -> Document:
        self.asked.append(path)
        return {"items": self.lists.pop(0), "metadata": {"resourceVersion": "100"}}

    async def watch(self, path: str) -> AsyncIterator[Document]:
        self.asked.append(path)
        script = self.watches.pop(0) if self.watches else None
        if script is None:
            await asyncio.Event().wait()
        if isinstance(script, Exception):
            raise script
        for event in script or []:
            yield event

    async def patch_present(self, path: str, body: Document) -> Document | None:
        self.asked.append(path)
        return {**pod("a", 7), **body}

    async def create(self, path: str, body: Document) -> Document:
        self.asked.append(path)
        self.created += 1
        more = {"uid": body["metadata"]["name"], "resourceVersion": str(self.created)}
        return {**body, "metadata": {**body["metadata"], **more}}
