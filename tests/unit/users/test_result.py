"""The result of users: the document and the verdict."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.users.accounts import Ending, Outcome, UserState
from ansible_collections.psap.perf.plugins.module_utils.users.result import failure, success_count, users_result

from tests.schemas import check

from .objects import PLAN, plan, pod, report

SUCCESS = Ending(Outcome.SUCCESS, None, 0)
FAILED = Ending(Outcome.FAILED, "exit code 3", 3)
LOST = Ending(Outcome.LOST, "pod deleted")


def states(*endings: Ending | None) -> list[UserState]:
    """Return a state for each ending."""
    return [UserState(index, report(), pod(index), ending) for index, ending in enumerate(endings)]


def test_result_follows_the_schema() -> None:
    step = {"name": "login", "start_s": 3.00049, "end_s": None, "failed": True}
    first = UserState(0, report(end_at_s=4.1234567, steps=[step]), pod(0), SUCCESS)
    second = UserState(1, report(), None, LOST)
    document = users_result(PLAN, [first, second, *states(None)], 2.5, {0: "user-0"}, None).document()

    assert check(document) == "psap.perf/users/1"
    user = document["users"][0]
    assert (user["end_at_s"], user["artifacts"], user["seed"], user["node"]) == (4.123, "user-0", 7, "worker-0")
    assert user["steps"] == [{"name": "login", "start_s": 3.0, "end_s": None, "failed": True}]
    assert document["users"][1]["node"] == "n"
    assert (document["users"][2]["outcome"], document["users"][2]["cause"]) == ("stopped", "interrupted")
    assert document["command"] == "sh -c 'run it'"


def test_one_success_is_enough_unless_all_are_needed() -> None:
    some = states(SUCCESS, FAILED, LOST)
    assert success_count(some) == 1
    assert failure(PLAN, some) == ""
    assert failure(plan(need_all_success=True), some) == (
        "1 of 3 users succeeded; 1 failed: exit code 3, 1 lost: pod deleted"
    )


def test_no_success_is_a_failure() -> None:
    assert failure(PLAN, states(FAILED, FAILED, None)) == (
        "0 of 3 users succeeded; 2 failed: exit code 3, 1 stopped: interrupted"
    )
    assert failure(plan(need_all_success=True), states(SUCCESS, SUCCESS, SUCCESS)) == ""
