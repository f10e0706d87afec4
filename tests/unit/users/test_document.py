"""The document users.json."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.users.document import UserResult, UsersResult, UserStep

from tests.schemas import check


def test_users_follow_the_schema() -> None:
    steps = (UserStep("login", 1.5, 2.0, False), UserStep("deploy", 2.0, None, True))
    served = UserResult(
        0, "user0", "success", "test-user0", 7, "users-0-abc", "node-1", 0.5, 1.0, 1.5, 9.0, 0, steps=steps
    )
    lost = UserResult(1, "user1", "lost", cause="node lost")
    document = UsersResult("perfdrv run kserve", 2, 1, 0.0, 60.0, 1.5, (served, lost)).document()
    assert check(document) == "psap.perf/users/1"
    assert document["users"][0]["steps"][1] == {"name": "deploy", "start_s": 2.0, "end_s": None, "failed": True}
    assert (document["users"][1]["cause"], document["users"][1]["exit_code"]) == ("node lost", None)
