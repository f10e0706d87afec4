"""The plan of users: the index of a pod determines its user."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.starting.barrier import StartPlan

LABEL = "psap.perf/users"
# readers of the start are in other processes, and read over the network
LEAD_S = 1.0
# pods append the index and five characters to the name of the Job
_NAME = re.compile(r"[a-z][-a-z0-9]{0,38}[a-z0-9]")
_PREFIX = re.compile(r"[a-z][-a-z0-9]{0,39}")


@dataclass(frozen=True, slots=True)
class User:
    """One user."""

    index: int
    name: str
    namespace: str | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class ExportPlan:
    """Where the pods send their files: a folder of a bucket of an S3 store, with the keys of a Secret."""

    bucket: str
    endpoint: str
    region: str
    prefix: str
    secret_name: str


@dataclass(frozen=True, slots=True)
class UsersPlan:
    """The users of one Job.

    Attributes:
        command: The words of the command of every user.
        setup_command: The words of a command that runs before the start; empty for none.
        namespace_prefix: Prefix of the namespace of each user; empty if users have none.
        seed: Seed of user 0, one more for each further user; None without seeds.
        ready_within_s: How long the start waits for users that are not ready.
        timeout_s: How long the command may take after the start.
        abort_on_failure: Whether the first user that fails stops the others.
        need_all_success: Whether all users must succeed; otherwise one is enough.
        export: None if the files are not exported.
    """

    job: str
    namespace: str
    count: int
    command: tuple[str, ...]
    setup_command: tuple[str, ...]
    user_prefix: str
    namespace_prefix: str
    seed: int | None
    batch_size: int
    batch_delay_s: float
    ready_within_s: float
    timeout_s: float
    abort_on_failure: bool
    need_all_success: bool
    export: ExportPlan | None = None

    def user(self, index: int) -> User:
        """Return the user of an index."""
        return User(
            index=index,
            name=f"{self.user_prefix}{index}",
            namespace=f"{self.namespace_prefix}{index}" if self.namespace_prefix else None,
            seed=None if self.seed is None else self.seed + index,
        )

    def start(self) -> StartPlan:
        """Return how the users start."""
        return StartPlan(
            participants=self.count,
            ready_within_s=self.ready_within_s,
            lead_s=LEAD_S,
            batch_size=self.batch_size,
            batch_delay_s=self.batch_delay_s,
        )

    @property
    def stagger_s(self) -> float:
        """Time from the start until the last batch begins."""
        return self.start().offset_s(self.count - 1)

    def text(self) -> str:
        """Return the plan as JSON.

        Raises:
            UsageError: If the commands contain a credential.
        """
        text = json.dumps(asdict(self))
        if hide(text) != text:
            raise UsageError(
                "the command contains a credential, which everybody who may read ConfigMaps could read: "
                "put it into a Secret, pass secret_name, and let the command read the file"
            )
        return text


def parse_plan(text: str) -> UsersPlan:
    """Return the plan that `UsersPlan.text` wrote."""
    document: Mapping[str, Any] = json.loads(text)
    plan, export = UsersPlan(**document), document.get("export")
    return replace(
        plan,
        command=tuple(plan.command),
        setup_command=tuple(plan.setup_command),
        export=ExportPlan(**export) if export else None,
    )


def check_plan(plan: UsersPlan) -> None:
    """Check names and numbers.

    Raises:
        UsageError: If one is invalid; the message lists all problems.
    """
    problems = []
    if not _NAME.fullmatch(plan.job):
        problems.append(
            f"invalid job name {plan.job}: begin with a letter, use at most 40 lower case letters, digits and dashes"
        )
    prefixes = {"user_prefix": plan.user_prefix, "namespace_prefix": plan.namespace_prefix}
    problems += [
        f"invalid {name} {prefix}: begin with a letter, use at most 40 lower case letters, digits and dashes"
        for name, prefix in prefixes.items()
        if prefix and not _PREFIX.fullmatch(prefix)
    ]
    if plan.count < 1 or plan.batch_size < 1:
        problems.append("user_count and user_batch_size begin at 1")
    if plan.export and not plan.export.endpoint.startswith("https://"):
        problems.append(f"export_endpoint {plan.export.endpoint} is not https://, by which the pods verify the store")
    if problems:
        raise UsageError("; ".join(problems))


def words(command: str, option: str) -> tuple[str, ...]:
    """Return the words of *command*, which no shell reads.

    Raises:
        UsageError: If a quote is not closed.
    """
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
