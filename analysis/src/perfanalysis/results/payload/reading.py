"""A payload from JSON and back. What is written and read again is equal, with every digit."""

from __future__ import annotations

import msgspec

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, mapping, schema_problem
from perfanalysis.results.payload.model import Payload


def to_json(payload: Payload) -> Document:
    """The document psap.perf/payload/1."""
    document: Document = msgspec.to_builtins(payload)
    return document


def from_json(document: object) -> Payload:
    """The payload of a document; unknown keys are left out. UsageError names the place that is not as the types say."""
    problem = schema_problem(mapping(document).get("schema"), "payload")
    if problem:
        raise UsageError(f"this is no payload: {problem}")
    try:
        return msgspec.convert(document, Payload)
    except msgspec.ValidationError as error:
        raise UsageError(f"this is no payload: {error}") from error
