"""Words that every output shares."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.drawing.wording import counted, value_text
from perfanalysis.verdicts.comparison.sides import sides_of_cells
from perfanalysis.workloads.labels import labels_of, recording_label
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text", "a text"),
        (4, "4"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "null"),
        ({}, "{}"),
        ([], "[]"),
        ({"r": 4}, "r=4"),
        (
            {"r": 4, "lora": {"alpha": 16, "of": ["q", "v"], "more": {}}},
            "r=4, lora.alpha=16, lora.of=[q, v], lora.more={}",
        ),
        ([{"name": "x", "count": 2}, {"name": "y"}], "[(name=x, count=2), (name=y)]"),
    ],
)
def test_value_is_printed_without_language_marks(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_counts_have_singular_and_plural() -> None:
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert counted(2, "query", "queries") == "2 queries"


def test_cell_labels_have_readable_values(tmp_path: Path) -> None:
    shapes = [Shape(workloads=5, nodes=1, duration=1.0), Shape(workloads=6, nodes=1, duration=1.0)]
    directory = write_run(tmp_path, shapes, run="matrix")
    for number, path in enumerate(sorted(directory.rglob("cell.json")), start=2):
        document = json.loads(path.read_text())
        document["values"] |= {"scale_test_patch": {"spec": {"parallelism": number}}, "scale_test_gang": True}
        path.write_text(json.dumps(document))
    result = analyse_run(directory, tmp_path)
    labels = labels_of(result.analyses[0])
    assert (labels["scale_test_patch"], labels["scale_test_gang"]) == ("spec.parallelism=2", "true")
    assert recording_label(result.analyses[0], result.run) == "cell 0: workloads=5, spec.parallelism=2"
    loaded = replace(result.analyses[0], facts={"load": "4 users"})
    assert recording_label(loaded, result.run) == "cell 0: workloads=5, spec.parallelism=2, 4 users"
    sides = sides_of_cells(result, "patch", None)
    assert [side.heading for side in sides] == ["patch spec.parallelism=2", "patch spec.parallelism=3"]
