"""Read a scale test of KServe: users that deploy models, from the documents of their commands."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kserve_scale.commands import DEPLOY, VALIDATE, commands, plan_of
from perfanalysis.workloads.kserve_scale.rows import answers_of, model_row, start_of, test_row, user_row, with_intervals


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each user, model, step of a start and answer, and one for the test."""
    test = plan_of(source)
    deployed, asked = list(commands(source, DEPLOY)), list(commands(source, VALIDATE))
    models, steps = [], []
    for one in deployed:
        its_steps, start = start_of(source, one)
        checks = [check for check in asked if (check.user, check.services) == (one.user, one.services)]
        models.append({**start, **model_row([one, *checks], checked=test["answers_checked"])})
        steps += its_steps
    users = [user_row(test, models, [*deployed, *asked], user) for user in dict.fromkeys(one.user for one in deployed)]
    answers = [answer for one in asked for answer in answers_of(source, one)]
    tests = [test_row(test, models, users)]
    return {"models": with_intervals(models), "steps": steps, "users": users, "answers": answers, "tests": tests}
