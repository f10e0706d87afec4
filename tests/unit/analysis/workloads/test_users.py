"""The kind of users as pods: KPIs of made-up tests, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.users.document import UserResult, UsersResult, UserStep
from perfanalysis.drawing.charts import Figure
from perfanalysis.workloads.run_analysis import analyse_run
from perfanalysis.workloads.users.rows import progress_rows, spans_text
from perfanalysis.workloads.workload_type import Analysis

from tests.data.user_tests import GO, UserTest, user_test, write_users

PLACE = "000__local_ci__run_multi/artifacts"


def hand_made() -> UsersResult:
    """Return four users in batches of two: one succeeds, one fails, one is lost, one is stopped before its start."""
    first = UserResult(
        0, "a", "success", pod="p0", node="n0", setup_at_s=GO - 9, ready_at_s=GO - 5, launch_at_s=GO + 0.5,
        end_at_s=GO + 10.5, exit_code=0,
        steps=(UserStep("one", GO + 1, GO + 4, False), UserStep("two", GO + 4, GO + 9, False)),
    )  # fmt: skip
    second = UserResult(
        1, "b", "failed", pod="p1", node="n1", setup_at_s=GO - 8, ready_at_s=GO - 6, launch_at_s=GO + 0.25,
        end_at_s=GO + 3, exit_code=3, cause="exit code 3", steps=(UserStep("one", GO + 1, GO + 3, True),),
    )  # fmt: skip
    third = UserResult(
        2, "c", "lost", pod="p2", node="n1", setup_at_s=GO - 7, ready_at_s=GO - 6, launch_at_s=GO + 3,
        cause="node lost", steps=(UserStep("one", GO + 3, None, False),),
    )  # fmt: skip
    users = (first, second, third, UserResult(3, "d", "stopped", pod="p3"))
    return UsersResult("test", 5, 2, 2.0, 60.0, GO, users)


def analyse(run: Path, result: UsersResult) -> Analysis:
    write_users(run / PLACE, result)
    (analysis,) = analyse_run(run, run / "out").analyses
    return analysis


def numbers(analysis: Analysis) -> dict[str, float | None]:
    return {value.series: value.number for value in analysis.kpis}


def rows(analysis: Analysis, table: str) -> list[dict[str, Any]]:
    found = analysis.frames[f"users_{table}"].astype("object").to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in found]


def test_user_kpis_match_hand_computation(tmp_path: Path) -> None:
    found = numbers(analyse(tmp_path, hand_made()))
    assert found["users"] == 5
    assert found["users_success_ratio"] == pytest.approx(1 / 5), "of the requested users"
    assert (found["users_failed"], found["users_lost"], found["users_stopped"]) == (1, 1, 1)
    # delays of 0.5, 0.25, and 1 s against the second batch
    assert found["start_spread"] == pytest.approx(0.75)
    assert found["start_delay_p50"] == pytest.approx(0.5)
    assert found["start_delay_max"] == pytest.approx(1.0)
    assert found["assembly_time"] == 9
    assert (found["setup_time_p50"], found["setup_time_max"]) == (2, 4)
    assert (found["user_time_max"], found["total_time"]) == (10, 10.5)
    assert found['step_time_max{step="one"}'] == 3, "without steps that failed or did not end"
    assert found['step_time_max{step="two"}'] == 5
    assert found["steps_failed"] == 1


def test_users_are_mapped_to_nodes_and_causes(tmp_path: Path) -> None:
    analysis = analyse(tmp_path, hand_made())
    assert [(row["node"], row["users"], row["succeeded"], row["which"]) for row in rows(analysis, "nodes")] == [
        ("n1", 2, 0, "1-2"),
        ("n0", 1, 1, "0"),
    ]
    assert [(row["outcome"], row["cause"], row["which"]) for row in rows(analysis, "failures")] == [
        ("failed", "exit code 3", "1"),
        ("lost", "node lost", "2"),
        ("stopped", "unknown", "3"),
    ]


def test_missing_results_are_a_finding(tmp_path: Path) -> None:
    write_users(tmp_path / PLACE, hand_made())
    findings = [finding.text for finding in analyse_run(tmp_path, tmp_path / "out").findings]
    assert "1 of 5 users have no result" in findings


def test_progress_has_no_gaps_and_keeps_open_ends() -> None:
    done, _failed, lost, stopped = hand_made().document()["users"]
    assert [(row["step"], row["begin_s"] - GO, row["end_s"] - GO) for row in progress_rows(done)] == [
        ("setup", -9, -5),
        ("waiting for the start", -5, 0.5),
        ("command", 0.5, 1),
        ("one", 1, 4),
        ("two", 4, 9),
        ("command", 9, 10.5),
    ]
    assert [(row["user"], row["step"], row["end_s"]) for row in progress_rows(lost)][2:] == [("c (lost)", "one", None)]
    assert list(progress_rows(stopped)) == []


def test_users_that_never_started_have_no_times(tmp_path: Path) -> None:
    analysis = analyse(tmp_path, user_test(UserTest(3, opened=False)))
    found = numbers(analysis)
    assert (found["users_success_ratio"], found["users_lost"]) == (0, 3)
    missing = ("start_spread", "start_delay_max", "user_time_max", "step_time_max", "total_time", "assembly_time")
    assert {name: found[name] for name in missing} == dict.fromkeys(missing)
    assert [row["which"] for row in rows(analysis, "failures")] == ["0-2"]
    assert analysis.sections


@pytest.mark.parametrize("users", [1, 50])
def test_each_user_has_a_line_of_progress(tmp_path: Path, users: int) -> None:
    analysis = analyse(tmp_path, user_test(UserTest(users, outcomes={7: ("lost", "node lost")})))
    figures = {
        block.name: block for section in analysis.sections for block in section.blocks if isinstance(block, Figure)
    }
    ((progress,),) = figures["progress"].rows
    assert len(progress.y.categories) == users
    assert [layer.label for layer in progress.layers][:3] == ["setup", "waiting for the start", "login"]
    ((stack,),) = figures["stack"].rows
    assert max(layer.y.max() for layer in stack.layers) == users
    # a lost user remains in its last step
    assert stack.layers[-1].y[-1] == (1 if users > 7 else 0)


def test_matrix_has_lines_over_the_number_of_users(tmp_path: Path) -> None:
    for cell, users in enumerate((2, 4, 8)):
        place = tmp_path / f"{cell:03d}__cell__{cell}"
        write_users(place / PLACE, user_test(UserTest(users, outcomes={5: ("failed", "exit code 3")})))
        document = {"schema": "psap.perf/cell/1", "index": cell, "values": {"local_ci.users": users}, "status": "ok"}
        (place / "cell.json").write_text(json.dumps(document))
    figures = {figure.name: figure for figure in analyse_run(tmp_path, tmp_path / "out").figures}
    ((success,),) = figures["users_success"].rows
    (line,) = success.layers
    assert (line.x.tolist(), line.y.tolist()) == ([2, 4, 8], [1, 1, 0.875])
    ((steps,),) = figures["users_steps_p50"].rows
    assert [layer.label for layer in steps.layers] == [
        "login",
        "create project",
        "deploy model",
        "query model",
        "clean up",
    ]
    ((spread,),) = figures["users_spread"].rows
    assert [layer.label for layer in spread.layers] == ["start delay, P50", "start delay, max", "start spread"]


def test_numbers_are_shown_as_spans() -> None:
    assert spans_text([7, 0, 1, 2, 3, 9, 10]) == "0-3, 7, 9-10"
    assert spans_text([]) == ""
