"""Write made-up results of users as pods; no user ran."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.users.document import UserResult, UsersResult, UserStep

from tests.schemas import check

GO = 1_790_000_000.0
STEPS = (("login", 0.4), ("create project", 1.2), ("deploy model", 9.0), ("query model", 3.0), ("clean up", 1.5))


@dataclass(frozen=True)
class UserTest:
    """A test to make up; `outcomes` are those of users by their index, `steps` names and medians."""

    users: int
    batch_size: int = 10
    batch_delay_s: float = 2.0
    nodes: int = 3
    seed: int = 1
    outcomes: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    steps: tuple[tuple[str, float], ...] = STEPS
    opened: bool = True


def user_test(test: UserTest) -> UsersResult:
    """Return the made-up results: steps take longer with more users."""
    chance = random.Random(test.seed)
    users = tuple(_user(test, index, chance) for index in range(test.users))
    return UsersResult(
        command="perfdrv run kserve -p scale",
        user_count=test.users,
        batch_size=test.batch_size,
        batch_delay_s=test.batch_delay_s,
        barrier_timeout_s=120.0,
        go_at_s=GO if test.opened else None,
        users=users,
    )


def _user(test: UserTest, index: int, chance: random.Random) -> UserResult:
    outcome, cause = test.outcomes.get(index, ("success", ""))
    setup = GO - 20 + chance.uniform(0, 4) + 0.1 * index
    one = UserResult(
        index=index,
        name=f"user{index}",
        outcome="success",
        namespace=f"test-user{index}",
        seed=index,
        pod=f"users-{index}-x{index:02d}",
        node=f"node-{index % test.nodes}",
        setup_at_s=round(setup, 3),
        ready_at_s=round(setup + chance.lognormvariate(1.0, 0.3), 3),
    )
    if not test.opened:
        return replace(one, outcome="lost", cause="not ready in time", setup_at_s=None, ready_at_s=None)
    planned = GO + index // test.batch_size * test.batch_delay_s
    at = launch = round(planned + chance.lognormvariate(-4, 0.8), 3)
    steps = []
    for name, median in test.steps:
        end = round(at + median * (1 + test.users / 40) * chance.lognormvariate(0, 0.25), 3)
        steps.append(UserStep(name, at, end, False))
        at = end
    one = replace(one, launch_at_s=launch, end_at_s=at, exit_code=0, artifacts=f"user-{index}", steps=tuple(steps))
    if outcome == "success":
        return one
    if outcome == "failed":
        kept = (*steps[:2], replace(steps[2], failed=True)) if len(steps) > 2 else ()
        ended_s = steps[2].end_s if kept else at
        return replace(one, outcome="failed", cause=cause, exit_code=3, end_at_s=ended_s, steps=kept)
    kept = (*steps[:2], replace(steps[2], end_s=None)) if len(steps) > 2 else ()
    ended = replace(one, exit_code=None, end_at_s=None, artifacts=None, steps=kept)
    return replace(ended, outcome="lost" if outcome == "lost" else "stopped", cause=cause)


def write_users(directory: Path, result: UsersResult) -> dict[str, Any]:
    """Write users.json into a new directory; return the document."""
    document = result.document()
    check(document)
    directory.mkdir(parents=True)
    (directory / "users.json").write_text(json.dumps(document))
    return document
