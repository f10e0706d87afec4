"""Two indices: `<prefix>-runs-1` with a document a run, `<prefix>-kpis-1` with a document for each value of a KPI.

A run's document holds the document of the history as it is, unindexed, so that pulling it gives the same bytes; beside
it stand the fields to search by. A value's document is flat, since charts and aggregations need the number as a field
of one type, and OpenSearch joins nothing. What others named (settings, facts, labels) is a flat_object: one field of
the mapping, however many names there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfanalysis.files.documents import Document, listing, mapping, parse_time
from perfanalysis.results.history.folder import canonical, content_name
from perfanalysis.results.opensearch.connection import ServerError, told

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from perfanalysis.results.opensearch.connection import Server

MADE_BY = {"made_by": "psap.perf", "layout": 1}
WORD = {"type": "keyword", "ignore_above": 8000}
FLAT = {"type": "flat_object"}
NUMBER = {"type": "double"}
OF_BOTH: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("content", "run", "flow", "status", "analysis", "simulated", "emulated"), WORD),
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
"""Signs of a text that can be searched for; Lucene takes terms of 32,766 bytes."""


@dataclass(frozen=True)
class Stored:
    """One document for the server: which run it is of, and what it is, for messages."""

    index: str
    identity: str
    run: str
    what: str
    source: Document


def index_name(server: Server, what: str) -> str:
    """The name of the index of `runs` or `kpis`."""
    return f"{server.prefix}-{what}-1"


def make_indices(client: OpenSearch, server: Server) -> None:
    """Make the indices that are not there. Raises ServerError when one is there that somebody else made."""
    for what, properties in FIELDS.items():
        name = index_name(server, what)
        with told(server.url):
            if not client.indices.exists(index=name):
                mappings = {"dynamic": False, "_meta": MADE_BY, "properties": properties}
                settings = {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}}
                # 400: another push was faster
                client.indices.create(index=name, body={"settings": settings, "mappings": mappings}, ignore=[400])
            found = mapping(client.indices.get_mapping(index=name))
        for index in found.values():
            if mapping(mapping(index).get("mappings")).get("_meta") != MADE_BY:
                raise ServerError(f"{server.url}: the index {name} is not one of psap.perf; choose another --prefix")


def of_run(document: Document, server: Server) -> Stored:
    """The document of a run."""
    identity = content_name(canonical(document)).removesuffix(".json")
    source = {**_common(document, identity), "facts": searchable(mapping(document.get("facts"))), "document": document}
    return Stored(index_name(server, "runs"), identity, str(document["run"]), "run", source)


def of_kpis(document: Document, server: Server) -> Iterator[Stored]:
    """The documents of the values of a run; what a run was set to stands with the run, only its keys are here too."""
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
    """A value for a flat_object: texts are cut where Lucene would refuse them; the document keeps them whole."""
    if isinstance(value, dict):
        return {name[:LONGEST_TEXT]: searchable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [searchable(part) for part in value]
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def _common(document: Document, identity: str) -> Document:
    started = document.get("started")
    return {
        "content": identity,
        **{name: document.get(name) for name in ("run", "flow", "status", "analysis", "simulated", "emulated")},
        "started": started if parse_time(started) is not None else None,
    }
