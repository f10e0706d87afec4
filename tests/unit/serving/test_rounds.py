"""The completed rounds of repeated loads, by the files of an earlier attempt."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.serving.rounds import MARKER, completed_rounds


def load(run: Path, flavor: str, round_number: int, *, status: str = "ok", cell: int = 0) -> None:
    attempt = run / "001__cell__0" / flavor
    attempt.mkdir(parents=True, exist_ok=True)
    command = attempt / f"{len(list(attempt.iterdir())) + 1:03d}__llm_load_test_run"
    (command / MARKER).parent.mkdir(parents=True)
    write_json(command / "status.json", {"cell": cell, "status": status})
    write_json(command / MARKER, {"flavor": flavor} | ({"round": round_number} if round_number else {}))


def test_a_round_is_complete_when_all_loads_of_all_models_are(tmp_path: Path) -> None:
    loads = {"m0": 2, "m1": 1}
    assert completed_rounds(tmp_path, 0, loads) == 0
    for number in (1, 1, 2, 2, 3):
        load(tmp_path, "m0", number)
    assert completed_rounds(tmp_path, 0, loads) == 0
    for number in (1, 2, 3):
        load(tmp_path, "m1", number)
    assert completed_rounds(tmp_path, 0, loads) == 2
    load(tmp_path, "m0", 3)
    assert completed_rounds(tmp_path, 0, loads) == 3


def test_failed_killed_or_foreign_rounds_do_not_count(tmp_path: Path) -> None:
    for status in ("failed", "interrupted", "running"):
        load(tmp_path, "m0", 1, status=status)
    load(tmp_path, "m0", 0)
    load(tmp_path, "m0", 1, cell=1)
    assert completed_rounds(tmp_path, 0, {"m0": 1}) == 0


def test_model_without_a_load_delays_nothing(tmp_path: Path) -> None:
    load(tmp_path, "m0", 1)
    assert completed_rounds(tmp_path, 0, {"m0": 1, "m1": 0}) == 1
