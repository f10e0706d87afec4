"""Tasks name the API group of unlisted kinds only; the server chooses the version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import API_VERSIONS, group_of, is_group

PROJECT = Path(__file__).resolve().parents[3]
ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
FOLDERS = (ROLES, PROJECT / "playbooks", PROJECT / "molecule")
FILES = [path for folder in FOLDERS for path in folder.rglob("*.yml") if "kind: " in path.read_text(encoding="utf-8")]


def options_with_a_kind(content: Any, verb: bool = False) -> Iterator[dict[str, Any]]:
    """Return the arguments of verbs, and nested values, that name a kind."""
    if isinstance(content, list):
        for item in content:
            yield from options_with_a_kind(item, verb)
    elif isinstance(content, dict):
        if verb and isinstance(content.get("kind"), str) and "apiVersion" not in content:
            yield content
        for key, value in content.items():
            yield from options_with_a_kind(value, verb or str(key).startswith("psap.perf."))


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: str(path.relative_to(PROJECT)))
def test_only_unknown_kinds_name_their_group(path: Path) -> None:
    for options in options_with_a_kind(yaml.safe_load(path.read_text(encoding="utf-8"))):
        kind, version = options["kind"], options.get("api_version")
        if "{{" not in kind:
            known = group_of(API_VERSIONS[kind]) if kind in API_VERSIONS else None
            assert known is not None if version is None else group_of(version) != known, f"{kind}, {version}"


# Fields are read and patched in these versions of OpenShift's own API, which OpenShift continues to serve.
STABLE = re.compile(r"(v1|[a-z.]+\.openshift\.io/v1)")


@pytest.mark.parametrize("path", sorted(path for path in FILES if path.is_relative_to(ROLES)), ids=str)
def test_role_tasks_pin_no_version_of_an_operators_api(path: Path) -> None:
    for options in options_with_a_kind(yaml.safe_load(path.read_text(encoding="utf-8"))):
        version = options.get("api_version") or ""
        assert not version or "{{" in version or is_group(version) or STABLE.fullmatch(version), version
