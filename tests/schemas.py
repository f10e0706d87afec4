"""The JSON Schemas of written documents, by the names that the documents state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schema"


@cache
def schema_of(name: str) -> dict[str, Any]:
    """Return the schema of a document or of a journal's rows by the name of its file, such as ``run``."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}-1.json").read_text(encoding="utf-8"))
    return schema


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema of a document by its name, such as ``psap.perf/run/1``; rows of journals have no name."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    return {
        schema["properties"]["schema"]["const"]: schema for schema in found if "schema" in schema.get("properties", {})
    }


def check(document: Mapping[str, Any]) -> str:
    """Return the name of the schema that *document* follows and that defines each of its keys; raise otherwise."""
    name = str(document["schema"])
    schema = schemas()[name]
    jsonschema.Draft202012Validator(schema).validate(document)
    unknown = document.keys() - schema["properties"].keys()
    if unknown:
        raise AssertionError(f"{name} does not describe {', '.join(sorted(unknown))}")
    return name


def check_file(path: Path) -> str:
    """Check a JSON or YAML file like :func:`check`."""
    text = path.read_text(encoding="utf-8")
    # YAML would read JSON's 1e-06 as a text
    return check(json.loads(text) if path.suffix == ".json" else yaml.safe_load(text))
