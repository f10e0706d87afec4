# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.users.document import FILE
from ansible_collections.psap.perf.plugins.module_utils.users.following import UsersFollower
from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.result import failure, success_count, users_result
from ansible_collections.psap.perf.plugins.modules.users.wait import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.user_artifacts import UserArtifacts
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    job: str
    namespace: str
    retrieve_artifacts: bool


class ActionModule(PerfAction):
    """Wait for users, and fetch their artifacts."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the Job."""
        return f"would wait for the users of Job {context.arguments(Arguments).job}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Follow them, fetch, record, and judge."""
        args = context.arguments(Arguments)
        job = UsersJob(context.cluster(), args.namespace, args.job)
        plan, folder = job.plan(), context.directory / "artifacts"
        artifacts = UserArtifacts(context, args.namespace, folder, export=plan.export, retrieve=args.retrieve_artifacts)
        follower = UsersFollower(job, plan, artifacts.fetch)
        lab, go_at_s = context.lab(), job.go_at_s()
        try:
            with shown_wait(context.directory, f"the users of Job {args.job} end", plan.timeout_s) as show:
                follower.follow(context.check_interrupted, show)
            artifacts.fetch_gone(follower.unfetched)
        finally:
            described = lab.document() if lab else None
            result = users_result(plan, follower.states, go_at_s, artifacts.folders, described)
            write_json(folder / FILE, result.document())
            write_text(folder / "success_count", f"{success_count(follower.states)}\n")
        values: dict[str, Any] = {
            "success_count": success_count(follower.states),
            "users": {user.index: user.outcome for user in result.users},
        }
        successful = [user.index for user in result.users if user.outcome == "success"]
        problems = artifacts.problems
        missing = {index: problems[index] for index in successful if index in problems}
        reason = failure(plan, follower.states)
        if not reason and missing:
            first = next(iter(missing.values()))
            reason = f"the files of {len(missing)} users that succeeded are missing: {first}"
        if reason:
            raise UsersFailedError(reason, values)
        warnings = (f"files of {result.users[index].name}: {each}" for index, each in sorted(problems.items()))
        return VerbResult(values=values, warnings=tuple(warnings))


class UsersFailedError(PerfError):
    """Too few users succeeded."""

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result
