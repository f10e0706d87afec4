"""Files that are written atomically: a reader sees the old contents or the new, never a part."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import yaml

from perflab.files.bounded_yaml import Loader

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def write_private(path: Path, contents: str | bytes) -> None:
    """Write `path` (mode 0600) through a temporary file in the same folder and a rename."""
    data = contents.encode() if isinstance(contents, str) else contents
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON object, indented, with mode 0600."""
    write_private(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`, or None if the file is missing or is not a JSON object."""
    try:
        document = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def read_documents(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a YAML file, or the object of a JSON file."""
    contents = path.read_bytes()
    if path.suffix == ".json":
        return [json.loads(contents)]
    return [document for document in yaml.load_all(contents, Loader) if document]


def private_folder(path: Path) -> Path:
    """Create the folder (and its parents), with mode 0700 for the folder itself."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(PRIVATE_FOLDER)
    return path
