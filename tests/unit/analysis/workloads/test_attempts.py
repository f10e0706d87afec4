"""Recordings of cells that several attempts of a run tested."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from perfanalysis.drawing.charts import Figure
from perfanalysis.reports.run_sections import comparison_tables
from perfanalysis.verdicts.comparison.sides import Matrix
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.kserve_scale import scale
from tests.data.load_searches import load as searched
from tests.data.load_searches import write_load_search
from tests.data.load_tests import Load, document, write_llm_load_test
from tests.data.prometheus_windows import Series, write_window
from tests.schemas import check


def cell(run: Path, attempt: int, index: int = 0, status: str = "running") -> Path:
    """Write the document of a cell of an attempt; return its directory."""
    directory = run / f"{10 * attempt + index:03d}__cell__{index}"
    directory.mkdir(parents=True, exist_ok=True)
    written = {
        "schema": "psap.perf/cell/1",
        "index": index,
        "name": f"cell__{index}",
        "values": {},
        "status": status,
        "attempt": attempt,
        "started": "2026-11-30T10:00:00.000Z",
        "ended": None,
        "error": None,
    }
    check(written)
    (directory / "cell.json").write_text(json.dumps(written))
    return directory


def load(directory: Path, number: int, users: int, **more: object) -> None:
    place = directory / f"{number:03d}__llm_load_test__run" / "artifacts"
    write_llm_load_test(place, Load(users, requests=20), **more)


def analyse(run: Path) -> RunAnalysis:
    return analyse_run(run, run / "report")


def loads(result: RunAnalysis) -> dict[str, str]:
    """Return the number of the command of each load, by its users."""
    found = [one for one in result.analyses if one.title == "Load test"]
    assert Counter(one.facts["load"] for one in found).most_common(1)[0][1] == 1
    return {one.facts["load"]: one.place.relative.split("__")[0] for one in found}


def test_repeated_cell_has_each_load_once(tmp_path: Path) -> None:
    killed, resumed = cell(tmp_path, 1), cell(tmp_path, 2, status="ok")
    load(killed, 1, 1)
    load(killed, 2, 4)
    for number, users in ((1, 1), (2, 4), (3, 16)):
        load(resumed, number, users)
    result = analyse(tmp_path)
    assert loads(result) == dict.fromkeys(("1 user", "4 users", "16 users"), "020")
    (note,) = (finding for finding in result.findings if finding.where == "010__cell__0")
    assert (note.severity, note.text) == ("note", "a later attempt at the cell repeated 2 recordings: omitted")
    (table,) = comparison_tables(result)
    assert len(table.rows) == 3, "no row for the killed attempt"


def test_search_keeps_the_loads_that_it_reuses(tmp_path: Path) -> None:
    write_load_search(tmp_path / "020__cell__0", (searched(1, 0.1), searched(8, 0.2), searched(64, 0.9)))
    killed, resumed = cell(tmp_path, 1), cell(tmp_path, 2, status="ok")
    load(killed, 1, 1)
    load(killed, 2, 64)
    load(resumed, 1, 8)
    result = analyse(tmp_path)
    assert loads(result) == {"1 user": "010", "64 users": "010", "8 users": "020"}
    (side,) = Matrix(result).by_cell()
    assert (len(side.recordings), side.status) == (4, "ok")


def test_rounds_of_models_are_different_loads(tmp_path: Path) -> None:
    killed, resumed = cell(tmp_path, 1), cell(tmp_path, 2)
    load(killed, 1, 4, flavor="m0", round=1)
    load(killed, 2, 4, flavor="m0", round=2)
    load(killed, 3, 4, flavor="m1", round=1)
    load(resumed, 1, 4, flavor="m0", round=2)
    found = [one.facts for one in analyse(tmp_path).analyses]
    assert [(one["flavor"], one["round"]) for one in found] == [("m0", "1"), ("m1", "1"), ("m0", "2")]


def test_load_that_was_killed_counts_until_it_is_repeated(tmp_path: Path) -> None:
    killed = cell(tmp_path, 1)
    place = killed / "001__llm_load_test__run" / "artifacts"
    place.mkdir(parents=True)
    (place / "llm_load_test.json").write_text(json.dumps(document()))
    assert [one.where for one in analyse(tmp_path).findings if one.severity == "error"] == [
        "010__cell__0/001__llm_load_test__run/artifacts/output/output.json"
    ]
    load(cell(tmp_path, 2), 1, 4)
    result = analyse(tmp_path)
    assert loads(result) == {"4 users": "020"}
    assert not [finding for finding in result.findings if finding.severity == "error"]


def test_attempts_at_other_cells_and_loads_of_one_attempt_are_kept(tmp_path: Path) -> None:
    first, other = cell(tmp_path, 1), cell(tmp_path, 2, index=1)
    load(first, 1, 4)
    load(first, 2, 4)
    load(other, 1, 4)
    assert len(analyse(tmp_path).analyses) == 3


def test_recordings_of_a_cell_itself_leave_those_of_its_commands(tmp_path: Path) -> None:
    for name in ("010__cell__0", "020__cell__0"):
        scale(tmp_path / name)
    killed, _resumed = cell(tmp_path, 1), cell(tmp_path, 2)
    load(killed, 1, 4)
    found = [one.place.relative for one in analyse(tmp_path).analyses]
    assert found == ["010__cell__0/001__llm_load_test__run/artifacts", "020__cell__0"]


def test_metrics_of_repeated_loads_are_omitted(tmp_path: Path) -> None:
    killed, resumed = cell(tmp_path, 1), cell(tmp_path, 2)
    for directory in (killed, resumed):
        load(directory, 1, 4)
        # a window that no load is in, so that it would be a section of the run
        window, series = directory / "002__prometheus__query" / "artifacts", Series({}, [1.0] * 10, 0.0)
        write_window(window, (0.0, 20.0), {"gpu_all_power_watts": [series]})
    load(killed, 3, 8)
    result = analyse(tmp_path)
    assert loads(result) == {"4 users": "020", "8 users": "010"}
    load(resumed, 3, 8)
    assert len(drawn_windows(analyse(tmp_path))) == len(drawn_windows(result)) - 1


def drawn_windows(result: RunAnalysis) -> list[str]:
    """Return the figures of metrics that belong to no recording."""
    return [block.name for section in result.sections for block in section.blocks if isinstance(block, Figure)]
