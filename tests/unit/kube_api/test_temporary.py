"""Queries for temporary objects of killed commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kube_api.temporary import labels, queries

RUN = "demo-20260101T000000Z-abcdef"
SELECTOR = f"psap.perf/temporary={RUN}"


def write_manifest(source: Path, kind: str, name: str, namespace: str | None, given: dict[str, str]) -> None:
    metadata: dict[str, Any] = {"name": name, "labels": given, **({"namespace": namespace} if namespace else {})}
    source.mkdir(parents=True, exist_ok=True)
    (source / f"{name}.yml").write_text(dump_yaml({"apiVersion": "v1", "kind": kind, "metadata": metadata}))


def test_query_covers_places_of_labelled_manifests(tmp_path: Path) -> None:
    nested = tmp_path / "002__cell__0" / "001__a__b" / "002__c__d" / "src"
    write_manifest(nested, "Pod", "one", "here", labels(RUN))
    write_manifest(nested, "Pod", "two", "here", labels(RUN))
    write_manifest(nested, "ConfigMap", "three", None, labels(RUN))
    write_manifest(tmp_path / "001__e__f" / "src", "Secret", "stays", "here", {"other": "label"})
    assert set(queries(tmp_path)) == {
        Query("v1", "Pod", "here", label_selector=SELECTOR),
        Query("v1", "ConfigMap", label_selector=SELECTOR),
    }


@pytest.mark.parametrize("text", ["", "- a list", "metadata: a text", "{", "metadata: {labels: }", "\x00"])
def test_foreign_manifests_are_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "odd.yml").write_text(text)
    assert queries(tmp_path) == []
