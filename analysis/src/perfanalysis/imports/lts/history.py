"""LTS payloads as documents of a history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perfanalysis.files.documents import Document
from perfanalysis.imports.entries import documents
from perfanalysis.imports.lts.payloads import Payload


def history_documents(payloads: Iterable[Payload], imported: Document) -> Iterator[Document]:
    """A document psap.perf/history/1 for each payload; `missing` names its KPIs without a value, with the reasons."""
    for payload in payloads:
        for document in documents([payload.run], imported):
            recordings = [{**recording, "missing": dict(payload.missing)} for recording in document["recordings"]]
            yield {**document, "status": payload.status, "recordings": recordings}
