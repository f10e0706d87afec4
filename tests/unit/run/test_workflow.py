"""The report of an AWX workflow names the first failed job, and later ones."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.run.workflow import problems

OK = {"run": "scale_test-1", "verdict": "ok", "exit_code": 0, "reason": ""}
HELD = {"run": "scale_test-3", "verdict": "failed", "exit_code": 3, "reason": "Check: the cluster is in use by run x"}
CANCELLED = "test has no result: AWX cancelled the job, or it reached its time limit, or it could not start"


def test_successful_workflow_has_no_problems() -> None:
    assert problems({"prepare": OK, "test": OK, "cleanup": OK}) == []


def test_cancelled_test_and_failed_cleanup_are_both_named() -> None:
    found = problems({"prepare": OK, "test": None, "cleanup": HELD})

    assert found == [CANCELLED, "cleanup (run scale_test-3) failed: Check: the cluster is in use by run x"]


def test_test_does_not_run_after_a_failed_prepare() -> None:
    assert problems({"prepare": HELD, "cleanup": OK}) == [
        "prepare (run scale_test-3) failed: Check: the cluster is in use by run x",
        "test did not run",
    ]


def test_jobs_without_a_result_are_listed_in_order_of_time() -> None:
    first, *others = problems({"cleanup": None})

    assert first.startswith("prepare has no result")
    assert [other.partition(":")[0] for other in others] == ["test did not run", "cleanup has no result"]
