"""Push and pull the documents of a history: existing documents stay unchanged; any number can be pulled.

There are two indices: `<prefix>-runs-1` with a document per run, `<prefix>-kpis-1` with a document for each value of a
KPI. A run's document contains the document of the history, unindexed, so that pulling it returns the same bytes, and
the fields to search by. A value's document is flat, since charts and aggregations need the number as a field of one
type, and OpenSearch has no joins. Parts with arbitrary names (settings, facts, labels) are a flat_object: one field of
the mapping for any number of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import AnalysisError, UsageError
from perfanalysis.files.discovery import LAB_WORDS
from perfanalysis.files.documents import Document, listing, mapping, parse_time, schema_problem
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.folder import canonical, content_name
from perfanalysis.results.opensearch.connection import Server, ServerError, client_errors, connect

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


MADE_BY = {"made_by": "psap.perf", "layout": 1}
WORD = {"type": "keyword", "ignore_above": 8000}
FLAT = {"type": "flat_object"}
NUMBER = {"type": "double"}
OF_BOTH: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("content", "run", "flow", "status", "analysis"), WORD),
    "lab": {"properties": dict.fromkeys(LAB_WORDS, WORD)},
    "started": {"type": "date"},
    "facts": FLAT,
}
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "runs": {**OF_BOTH, "document": {"type": "object", "enabled": False}},
    "kpis": {
        **OF_BOTH,
        **dict.fromkeys(("kind", "recording", "name", "unit", "direction"), WORD),
        **dict.fromkeys(("labels", "keys"), FLAT),
        **dict.fromkeys(("value", "low", "high"), NUMBER),
        "count": {"type": "long"},
    },
}
LONGEST_TEXT = 8000
"""Length of a searchable text; Lucene accepts terms of 32,766 bytes."""


@dataclass(frozen=True)
class Stored:
    """One document for the server: its run, and its description for messages."""

    index: str
    identity: str
    run: str
    what: str
    source: Document


def index_name(server: Server, what: str) -> str:
    """Return the name of the index of `runs` or `kpis`."""
    return f"{server.prefix}-{what}-1"


def make_indices(client: OpenSearch, server: Server) -> None:
    """Create missing indices. Raises ServerError if one exists that psap.perf did not create."""
    for what, properties in FIELDS.items():
        name = index_name(server, what)
        with client_errors(server.url):
            if not client.indices.exists(index=name):
                mappings = {"dynamic": False, "_meta": MADE_BY, "properties": properties}
                settings = {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}}
                # 400: another push created it first
                client.indices.create(index=name, body={"settings": settings, "mappings": mappings}, ignore=[400])
            found = mapping(client.indices.get_mapping(index=name))
        for index in found.values():
            if mapping(mapping(index).get("mappings")).get("_meta") != MADE_BY:
                raise ServerError(
                    f"{server.url}: the index {name} does not belong to psap.perf; choose another --prefix"
                )


def of_run(document: Document, server: Server) -> Stored:
    """Return the document of a run."""
    identity = content_name(canonical(document)).removesuffix(".json")
    source = {**_common(document, identity), "facts": searchable(mapping(document.get("facts"))), "document": document}
    return Stored(index_name(server, "runs"), identity, str(document["run"]), "run", source)


def of_kpis(document: Document, server: Server) -> Iterator[Stored]:
    """Return the documents of the values of a run; with the run's keys but not its settings."""
    identity = content_name(canonical(document)).removesuffix(".json")
    facts = {name: value for name, value in mapping(document.get("facts")).items() if not name.startswith("setting.")}
    common = {**_common(document, identity), "facts": searchable(facts)}
    for recording in map(mapping, listing(document.get("recordings"))):
        own = mapping(recording.get("labels"))
        of = {
            **{name: recording.get(name) for name in ("kind", "recording")},
            "keys": searchable(mapping(recording.get("keys"))),
        }
        for kpi in map(mapping, listing(recording.get("kpis"))):
            values = {name: kpi.get(name) for name in ("name", "unit", "direction", "value", "low", "high", "count")}
            source = {**common, **of, "labels": searchable({**own, **mapping(kpi.get("labels"))}), **values}
            name = content_name(canonical(source)).removesuffix(".json")
            yield Stored(index_name(server, "kpis"), name, str(document["run"]), f"KPI {kpi.get('name')}", source)


def searchable(value: Any) -> Any:
    """Return a value for a flat_object: texts are cut to Lucene's limit; the document has the full text."""
    if isinstance(value, dict):
        return {name[:LONGEST_TEXT]: searchable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [searchable(part) for part in value]
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def _common(document: Document, identity: str) -> Document:
    started = document.get("started")
    return {
        "content": identity,
        **{name: document.get(name) for name in ("run", "flow", "status", "analysis", "lab")},
        "started": started if parse_time(started) is not None else None,
    }


THERE_ALREADY = 409
MOST_LISTED = 10


@dataclass(frozen=True)
class Patience:
    """How often a request is repeated after status 429, and the first delay, doubled each time."""

    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0


@dataclass(frozen=True)
class Failure:
    """A document that the server refused."""

    run: str
    what: str
    reason: str


@dataclass(frozen=True)
class Pushed:
    """How many documents are new and how many existed, by `runs` and `kpis`; and the refused ones."""

    new: Counter[str]
    there: Counter[str]
    failures: tuple[Failure, ...]

    def error(self) -> AnalysisError | None:
        """Return the error to exit with; None if everything is stored."""
        if not self.failures:
            return None
        runs = sorted({failure.run for failure in self.failures})
        sentences = [f"{each.what} of {each.run}: {each.reason}" for each in self.failures[:MOST_LISTED]]
        more = f"; and {len(self.failures) - MOST_LISTED} more" if len(self.failures) > MOST_LISTED else ""
        return AnalysisError(
            f"could not store {counted(len(self.failures), 'document')} of {counted(len(runs), 'run')}: "
            f"{'; '.join(sentences)}{more}. Fix this and push again: stored documents are not stored twice"
        )


def push(server: Server, documents: Sequence[Document], patience: Patience | None = None) -> Pushed:
    """Push scrubbed documents. A run's own document is stored after all of its values, so that it marks a complete run.

    Raises ServerError if the server refuses all requests.
    """
    client = connect(server)
    make_indices(client, server)
    sender = _Sender(client, server, patience or Patience())
    sender.send("kpis", (each for document in documents for each in of_kpis(document, server)))
    incomplete = {failure.run for failure in sender.failures}
    whole = (document for document in documents if str(document["run"]) not in incomplete)
    sender.send("runs", (of_run(document, server) for document in whole))
    with client_errors(server.url):
        client.indices.refresh(index=",".join(index_name(server, what) for what in ("runs", "kpis")))
    return Pushed(sender.new, sender.there, tuple(sender.failures))


class _Sender:
    """Sends documents in bulk and counts the results."""

    def __init__(self, client: OpenSearch, server: Server, patience: Patience) -> None:
        self._client, self._server, self._patience = client, server, patience
        self.new: Counter[str] = Counter()
        self.there: Counter[str] = Counter()
        self.failures: list[Failure] = []

    def send(self, kind: str, stored: Iterable[Stored]) -> None:
        # by identity: responses to repeated requests arrive after those to later ones
        sent: dict[str, tuple[str, str]] = {}
        with client_errors(self._server.url):
            for answer in self._answers(_actions(stored, sent)):
                status = answer.get("status")
                if status == THERE_ALREADY:
                    self.there[kind] += 1
                elif isinstance(status, int) and status < 300:
                    self.new[kind] += 1
                else:
                    run, what = sent[str(answer.get("_id"))]
                    self.failures.append(Failure(run, what, _reason(answer)))

    def _answers(self, actions: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        from opensearchpy import helpers

        for _, answer in helpers.streaming_bulk(
            self._client,
            actions,
            raise_on_error=False,
            max_retries=self._patience.attempts,
            initial_backoff=self._patience.first_wait_s,  # type: ignore[arg-type]  # parts of a second are fine
            max_backoff=self._patience.longest_wait_s,  # type: ignore[arg-type]
        ):
            yield mapping(mapping(answer).get("create"))


def _actions(stored: Iterable[Stored], sent: dict[str, tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for each in stored:
        sent[each.identity] = each.run, each.what
        yield {"_op_type": "create", "_index": each.index, "_id": each.identity, "_source": each.source}


def _reason(answer: Mapping[str, Any]) -> str:
    """Return the server's error for a refused document, with its cause."""
    error = mapping(answer.get("error"))
    if not error:
        return f"status {answer.get('status')}: {answer.get('error')}"
    cause = mapping(error.get("caused_by")).get("reason")
    return f"{error.get('type')}: {error.get('reason')}{f' ({cause})' if cause else ''}"


class NoHistoryError(UsageError):
    """The server has no history of that prefix."""


PAGE = 500
KEPT_ALIVE = "2m"


def pull(server: Server, flow: str | None = None) -> Iterator[Document | Finding]:
    """Yield the documents as they were pushed; a Finding instead of one that was changed on the server.

    All documents are of one moment: a point in time is held open, and each page starts after the last identity of the
    previous page, so the limit of 10,000 does not apply. Raises NoHistoryError if the history does not exist
    there, ServerError as `connect` does.
    """
    client = connect(server)
    index = index_name(server, "runs")
    with client_errors(server.url):
        if not client.indices.exists(index=index):
            raise NoHistoryError(
                f"{server.url} has no history with the prefix {server.prefix}: the index {index} does not exist"
            )
        moment = client.create_pit(index=index, params={"keep_alive": KEPT_ALIVE})["pit_id"]
    try:
        for hit in _hits(client, server, moment, flow):
            yield _checked(str(hit.get("_id")), mapping(mapping(hit.get("_source")).get("document")))
    finally:
        with client_errors(server.url):
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
        with client_errors(server.url):
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
