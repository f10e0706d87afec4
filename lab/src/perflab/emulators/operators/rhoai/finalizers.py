"""Finalizers: an object that has one stays until who put it there takes it away."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.store import Store, key_of


async def add_finalizer(store: Store, document: Document, finalizer: str) -> None:
    """Put *finalizer* on an object that lacks it."""
    present = document["metadata"].get("finalizers") or []
    if finalizer not in present:
        await store.patch(key_of(document), {"metadata": {"finalizers": [*present, finalizer]}})


async def remove_finalizer(store: Store, document: Document, finalizer: str) -> None:
    """Take *finalizer* from an object that has it."""
    present = document["metadata"].get("finalizers") or []
    if finalizer in present:
        left = [each for each in present if each != finalizer]
        await store.patch(key_of(document), {"metadata": {"finalizers": left}})
