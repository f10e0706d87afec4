"""The plan of users: names, seeds, batches, and refused values."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.users.plan import User, check_plan, parse_plan, words

from .objects import PLAN, plan


def test_index_determines_user() -> None:
    assert PLAN.user(2) == User(2, "user-2", "test-u2", 9)
    assert plan(namespace_prefix="", seed=None).user(0) == User(0, "user-0", None, None)


def test_plan_survives_its_text() -> None:
    assert parse_plan(PLAN.text()) == PLAN


def test_last_batch_begins_after_the_others() -> None:
    assert plan(count=5).stagger_s == 3.0


def test_credential_in_command_is_refused() -> None:
    with pytest.raises(UsageError, match="contains a credential"):
        plan(command=("login", "--token=sha256~" + "a" * 43)).text()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"job": "Users"}, "invalid job name Users"),
        ({"user_prefix": "-a"}, "invalid user_prefix -a"),
        ({"namespace_prefix": "a_b"}, "invalid namespace_prefix a_b"),
        ({"count": 0}, "begin at 1"),
        ({"batch_size": 0}, "begin at 1"),
    ],
)
def test_invalid_plan_is_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_plan(plan(**changes))


def test_words_are_those_of_a_shell() -> None:
    assert words("sh -c 'a b'", "ci_command") == ("sh", "-c", "a b")
    with pytest.raises(UsageError, match="ci_command: No closing quotation"):
        words("sh -c 'a", "ci_command")
