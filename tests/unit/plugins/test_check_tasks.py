"""The check of an evaluation's tasks before anything is deployed."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

from tests.programs import PROJECT

from .verbs import Verbs

_GIVEN = {
    "tasks_path": str(PROJECT / "tests/data/evaluation_tasks"),
    "program": str(PROJECT / "tests/standins/load_generators/lm_eval/lm_eval"),
}


def test_existing_task_is_accepted_and_a_missing_one_refused(tmp_path: Path) -> None:
    verbs = Verbs(tmp_path / "kubeconfig", tmp_path)
    assert verbs("serving.check_tasks", **_GIVEN, tasks=["words"]).skipped is None
    with pytest.raises(UsageError, match="lm_eval refuses the tasks missing: Tasks not found: missing"):
        verbs("serving.check_tasks", **_GIVEN, tasks=["missing"])
    with pytest.raises(UsageError, match="tasks_path: the directory /missing does not exist"):
        verbs("serving.check_tasks", **{**_GIVEN, "tasks_path": "/missing"}, tasks=["words"])


def test_missing_evaluator_is_refused_with_its_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"run: perfdrv generators install lm-eval, which needs 0\.8 GB"):
        Verbs(tmp_path / "kubeconfig", tmp_path)("serving.check_tasks", tasks=["gsm8k"])
