"""Extracts CustomResourceDefinitions from Go modules: what a cluster validates, without descriptions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perflab.files import documents

_KIND = "CustomResourceDefinition"
# keys of these are names of fields, not keywords of a schema
_NAMED = frozenset({"properties", "patternProperties"})


def take(source: Path, folder: Path) -> None:
    """Write each definition of the YAML file *source* to *folder*, as JSON in a file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for document in documents.read_documents(source):
        if document["kind"] == _KIND:
            path = folder / f"{document['metadata']['name']}.json"
            path.write_text(json.dumps(reduced(document), separators=(",", ":")))


def reduced(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a definition without descriptions and without the generated status.

    Descriptions are two thirds of most definitions, and the API server reads, copies and hashes them repeatedly.
    """
    spec = definition["spec"]
    versions = [{**version, "schema": _reduced(version["schema"])} for version in spec["versions"]]
    return {
        "apiVersion": definition["apiVersion"],
        "kind": _KIND,
        "metadata": definition["metadata"],
        "spec": {**spec, "versions": versions},
    }


def _reduced(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_reduced(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _reduced(field) for name, field in value.items()} if key in _NAMED else _reduced(value)
        for key, value in schema.items()
        if key != "description"
    }
