"""Pull the documents of a history from a server, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, listing, mapping, schema_problem
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.folder import canonical, content_name
from perfanalysis.results.opensearch.connection import connect, told
from perfanalysis.results.opensearch.layout import index_name

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from perfanalysis.results.opensearch.connection import Server

PAGE = 500
KEPT_ALIVE = "2m"


def pull(server: Server, flow: str | None = None) -> Iterator[Document | Finding]:
    """The documents, as they were pushed; a Finding in place of one that was changed on the server.

    All of a moment: a point in time is held open, and each page is asked for by the last identity before it, so there
    is no limit of 10,000. Raises UsageError when nothing was ever pushed there, ServerError as `connect` does.
    """
    client = connect(server)
    index = index_name(server, "runs")
    with told(server.url):
        if not client.indices.exists(index=index):
            raise UsageError(
                f"{server.url} has no history with the prefix {server.prefix}: the index {index} is not there"
            )
        moment = client.create_pit(index=index, params={"keep_alive": KEPT_ALIVE})["pit_id"]
    try:
        for hit in _hits(client, server, moment, flow):
            yield _checked(str(hit.get("_id")), mapping(mapping(hit.get("_source")).get("document")))
    finally:
        with told(server.url):
            client.delete_pit(body={"pit_id": [moment]})


def _hits(client: OpenSearch, server: Server, moment: str, flow: str | None) -> Iterator[dict[str, Any]]:
    query: dict[str, Any] = {
        "size": PAGE,
        "query": {"match_all": {}} if flow is None else {"term": {"flow": flow}},
        "sort": [{"content": "asc"}],
        "_source": ["document"],
        "pit": {"id": moment, "keep_alive": KEPT_ALIVE},
        "track_total_hits": False,
    }
    while True:
        with told(server.url):
            hits = listing(mapping(mapping(client.search(body=query)).get("hits")).get("hits"))
        yield from map(mapping, hits)
        if len(hits) < PAGE:
            return
        query["search_after"] = hits[-1]["sort"]


def _checked(identity: str, document: Document) -> Document | Finding:
    problem = schema_problem(document.get("schema"), "history")
    if problem or "run" not in document:
        return Finding("error", identity, f"left out: {problem or 'it names no run'}")
    if content_name(canonical(document)) != f"{identity}.json":
        return Finding("error", identity, f"left out: {document['run']} was changed on the server after it was pushed")
    return document
