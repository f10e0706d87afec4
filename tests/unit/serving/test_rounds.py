"""The completed rounds of repeated loads, by the files of earlier attempts."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.serving.rounds import completed_rounds

ROLES = {"llm_load_test.json": "llm_load_test_run", "aiperf.json": "serving_run_load"}


def load(
    run: Path,
    flavor: str,
    round_number: int,
    *,
    status: str = "ok",
    cell: int = 0,
    attempt: int = 1,
    marker: str = "llm_load_test.json",
) -> None:
    lane = run / f"{attempt:03d}__cell__{cell}" / flavor
    lane.mkdir(parents=True, exist_ok=True)
    command = lane / f"{len(list(lane.iterdir())) + 1:03d}__load"
    (command / "artifacts").mkdir(parents=True)
    write_json(command / "status.json", {"role": ROLES[marker], "cell": cell, "status": status, "attempt": attempt})
    write_json(command / "artifacts" / marker, {"flavor": flavor} | ({"round": round_number} if round_number else {}))


def completed(run: Path, **loads: int) -> int:
    return completed_rounds(run, 0, loads, ROLES)


def test_a_round_is_complete_when_all_loads_of_all_models_are(tmp_path: Path) -> None:
    assert completed(tmp_path, m0=2, m1=1) == 0
    for number in (1, 1, 2, 2, 3):
        load(tmp_path, "m0", number)
    assert completed(tmp_path, m0=2, m1=1) == 0
    for number in (1, 2, 3):
        load(tmp_path, "m1", number)
    assert completed(tmp_path, m0=2, m1=1) == 2
    load(tmp_path, "m0", 3)
    assert completed(tmp_path, m0=2, m1=1) == 3


@pytest.mark.parametrize("marker", ROLES)
def test_rounds_of_several_attempts_follow_each_other(tmp_path: Path, marker: str) -> None:
    load(tmp_path, "m0", 1, marker=marker)
    load(tmp_path, "m0", 2, marker=marker, attempt=2)
    assert completed(tmp_path, m0=1) == 2


def test_parts_of_a_round_in_two_attempts_do_not_complete_it(tmp_path: Path) -> None:
    for attempt in (1, 2):
        load(tmp_path, "m0", 1, attempt=attempt)
    assert completed(tmp_path, m0=2) == 0


def test_failed_killed_or_foreign_rounds_do_not_count(tmp_path: Path) -> None:
    for status in ("failed", "interrupted", "running"):
        load(tmp_path, "m0", 1, status=status)
    load(tmp_path, "m0", 0)
    load(tmp_path, "m0", 1, cell=1)
    assert completed(tmp_path, m0=1) == 0


def test_model_without_a_load_delays_nothing(tmp_path: Path) -> None:
    load(tmp_path, "m0", 1)
    assert completed(tmp_path, m0=1, m1=0) == 1
