"""Tasks name the API version of a kind where it is not known, and only there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import API_VERSIONS

PROJECT = Path(__file__).resolve().parents[3]
ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
FOLDERS = (ROLES, PROJECT / "playbooks", PROJECT / "molecule")
FILES = [path for folder in FOLDERS for path in folder.rglob("*.yml") if "kind: " in path.read_text(encoding="utf-8")]


def asked(content: Any, verb: bool = False) -> Iterator[dict[str, Any]]:
    """The arguments of verbs, and what stands in them, that name a kind."""
    if isinstance(content, list):
        for item in content:
            yield from asked(item, verb)
    elif isinstance(content, dict):
        if verb and isinstance(content.get("kind"), str) and "apiVersion" not in content:
            yield content
        for key, value in content.items():
            yield from asked(value, verb or str(key).startswith("psap.perf."))


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: str(path.relative_to(PROJECT)))
def test_the_api_version_is_named_of_unknown_kinds_only(path: Path) -> None:
    for options in asked(yaml.safe_load(path.read_text(encoding="utf-8"))):
        kind, version = options["kind"], options.get("api_version")
        if "{{" not in kind:
            assert kind in API_VERSIONS if version is None else version != API_VERSIONS.get(kind), f"{kind}, {version}"
