"""The document ``users.json``: what users did that act concurrently, each in a pod."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain

SCHEMA = "psap.perf/users/1"
FILE = "users.json"
Outcome = Literal["success", "failed", "lost", "stopped"]


@dataclass(frozen=True, slots=True)
class UserStep:
    """A step that a user's command reported; ``end_s`` is None if it did not end."""

    name: str
    start_s: float
    end_s: float | None
    failed: bool


@dataclass(frozen=True, slots=True)
class UserResult:
    """A user. Times are seconds since the epoch; None if the user did not get so far.

    Attributes:
        pod: Its last pod.
        setup_at_s: The pod began to prepare.
        ready_at_s: The pod waited for the start.
        launch_at_s: The command began.
        end_at_s: The command ended.
        cause: A short text such as ``exit code 3``, ``OOMKilled`` or ``node lost``, equal for equal causes; None for
            success.
        artifacts: Directory of its files, relative to the document.
    """

    index: int
    name: str
    outcome: Outcome
    namespace: str | None = None
    seed: int | None = None
    pod: str | None = None
    node: str | None = None
    setup_at_s: float | None = None
    ready_at_s: float | None = None
    launch_at_s: float | None = None
    end_at_s: float | None = None
    exit_code: int | None = None
    cause: str | None = None
    artifacts: str | None = None
    steps: tuple[UserStep, ...] = ()


@dataclass(frozen=True, slots=True)
class UsersResult:
    """All users of a test.

    Attributes:
        command: The command of every user, without secrets.
        user_count: The number of requested users.
        batch_size: The number of users that start at the same instant.
        batch_delay_s: The planned time between the starts of two batches.
        barrier_timeout_s: How long the start waits for users that are not ready.
        go_at_s: The planned start of the first batch; None if the barrier never opened.
        lab: The lab as in ``run.json``; None for any other cluster.
    """

    command: str
    user_count: int
    batch_size: int
    batch_delay_s: float
    barrier_timeout_s: float
    go_at_s: float | None
    users: tuple[UserResult, ...]
    lab: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Return the contents of ``users.json``."""
        document: dict[str, Any] = plain({"schema": SCHEMA, **asdict(self)})
        return document
