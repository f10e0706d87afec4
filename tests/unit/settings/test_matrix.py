from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import cells
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option, read_flow

FLOW = """
short_description: A flow
options:
  x_kind: {type: str, description: Kind., default: Job, dimension: true}
  x_count: {type: int, description: Count., default: 1, dimension: true}
  x_hyper: {type: dict, description: Hyper-parameters., default: {}, dimension: [r, deep.alpha]}
  x_plain: {type: list, elements: int, description: A list that is a value., default: []}
"""


@pytest.fixture(name="options")
def _options(tmp_path: Path) -> tuple[Option, ...]:
    path = tmp_path / "playbooks" / "x" / "settings.yml"
    path.parent.mkdir(parents=True)
    path.write_text(FLOW)
    return read_flow(path, tmp_path).settings


def _values(**changes: Any) -> dict[str, Any]:
    return {"x_kind": "Job", "x_count": 1, "x_hyper": {}, "x_plain": [1, 2], **changes}


def test_matrix_without_lists_is_one_cell_without_a_name(options: tuple[Option, ...]) -> None:
    (only,) = cells(options, _values(), [])
    assert (only.index, only.name) == (0, "")
    assert only.values == {"x_kind": "Job", "x_count": 1, "x_hyper": {}}


def test_last_dimension_varies_fastest(options: tuple[Option, ...]) -> None:
    found = cells(options, _values(x_kind=["Job", "PyTorchJob"], x_count=[1, 2]), [])
    assert [cell.name for cell in found] == [
        "x_kind=Job x_count=1", "x_kind=Job x_count=2", "x_kind=PyTorchJob x_count=1", "x_kind=PyTorchJob x_count=2"
    ]  # fmt: skip


def test_leaves_of_a_dictionary_vary_independently(options: tuple[Option, ...]) -> None:
    hyper = {"r": [4, 8], "deep": {"alpha": [16, 32], "beta": [1, 2]}, "lists": [1, 2]}
    found = cells(options, _values(x_hyper=hyper), [])
    assert len(found) == 4
    assert found[1].values["x_hyper"] == {"r": 4, "deep": {"alpha": 32, "beta": [1, 2]}, "lists": [1, 2]}
    assert hyper["r"] == [4, 8]


def test_skipped_cells_keep_the_numbers_of_the_others(options: tuple[Option, ...]) -> None:
    found = cells(options, _values(x_count=[1, 2, 3]), ["x_count == 2", "x_count > 5 and x_kind == 'Job'"])
    assert [(cell.index, cell.values["x_count"]) for cell in found] == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("changes", "skip_if", "message"),
    [
        ({"x_count": []}, [], "x_count is an empty list"),
        (
            {"x_count": list(range(100_000)), "x_kind": [str(number) for number in range(100_000)]},
            [],
            r"the matrix has 10000000000 cells \(100000 x_kind by 100000 x_count\); it must have at most 10000",
        ),
        ({}, ["x_cuont == 2"], "x_cuont"),
        ({}, ["x_count =="], "invalid expression"),
        ({}, ["x_kind > 2"], "cannot evaluate"),
    ],
)
def test_invalid_matrix_is_one_error(
    options: tuple[Option, ...], changes: dict[str, Any], skip_if: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        cells(options, _values(**changes), skip_if)


def test_every_leaf_of_an_open_dictionary_varies_except_raw_lists(tmp_path: Path) -> None:
    path = tmp_path / "playbooks" / "x" / "settings.yml"
    path.parent.mkdir(parents=True)
    path.write_text("short_description: A flow\noptions:\n  x_hyper: {type: dict, description: x, dimension: ['*']}\n")
    hyper = {"r": [4, 8], "run": {"nodes": [1, 2], "port": 80}, "raw_lists": {"modules": ["q", "k"]}}
    found = cells(read_flow(path, tmp_path).settings, {"x_hyper": hyper}, [])
    assert [cell.name for cell in found] == [
        "x_hyper.r=4 x_hyper.run.nodes=1", "x_hyper.r=4 x_hyper.run.nodes=2",
        "x_hyper.r=8 x_hyper.run.nodes=1", "x_hyper.r=8 x_hyper.run.nodes=2",
    ]  # fmt: skip
    assert found[2].values["x_hyper"] == {"r": 8, "run": {"nodes": 1, "port": 80}, "raw_lists": {"modules": ["q", "k"]}}


def test_each_experiment_adds_a_product_with_consecutive_numbers(options: tuple[Option, ...]) -> None:
    experiments: list[dict[str, Any]] = [{"x_count": [1, 2]}, {"x_kind": "Pod", "x_hyper.r": 8}]
    found = cells(options, _values(), [], experiments)
    assert [(cell.index, cell.values["x_kind"], cell.values["x_count"]) for cell in found] == [
        (0, "Job", 1), (1, "Job", 2), (2, "Pod", 1)
    ]  # fmt: skip
    assert found[2].values["x_hyper"] == {"r": 8}
    assert found[2].name == "x_kind=Pod x_count=1 x_hyper.r=8"


def test_experiment_of_ignored_settings_changes_nothing(options: tuple[Option, ...]) -> None:
    only = [option for option in options if option.name == "x_kind"]
    assert [cell.values for cell in cells(only, _values(), [], [{"x_count": 3}, {"x_kind": "Pod"}])] == [
        {"x_kind": "Job"},
        {"x_kind": "Pod"},
    ]
