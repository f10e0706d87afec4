"""The server's tables as text."""

from __future__ import annotations

from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.tables import table_text

TABLE: dict[str, Any] = {
    "columnDefinitions": [{"name": "Name"}, {"name": "Ready"}, {"name": "Message", "priority": 1}],
    "rows": [
        {"cells": ["a", "1/1", None], "object": {"metadata": {"namespace": "x", "labels": {"k": "v", "b": ""}}}},
        {"cells": ["longer", 2, "two\nlines"], "object": {"metadata": {"namespace": "yy"}}},
    ],
}


def test_columns_are_aligned() -> None:
    assert table_text(TABLE, namespaces=False, labels=False) == (
        "NAME     READY   MESSAGE\na        1/1     <none>\nlonger   2       two lines\n"
    )


def test_namespaces_come_first_and_labels_last() -> None:
    assert table_text(TABLE, namespaces=True, labels=True) == (
        "NAMESPACE   NAME     READY   MESSAGE     LABELS\n"
        "x           a        1/1     <none>      b=,k=v\n"
        "yy          longer   2       two lines   <none>\n"
    )


def test_no_rows_yield_no_text() -> None:
    assert table_text({"columnDefinitions": [{"name": "Name"}]}, namespaces=True, labels=True) == ""
