"""The accuracy of the lab's simulated model server, by lm_eval itself and by the stand-in of the tests."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import (
    LM_EVAL,
    Evaluation,
    arguments,
    documents,
    result_file,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import program_of
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from perflab.serving.models import Latency, ServedModel

from tests.programs import PROJECT, ROLES
from tests.schemas import check

from .test_serving import serve

_ROLE = ROLES / "serving_evaluate"
_TASKS = PROJECT / "tests/data/evaluation_tasks"
_STAND_IN = PROJECT / "tests/standins/load_generators/lm_eval/lm_eval"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("program", [_STAND_IN, pytest.param("", marks=pytest.mark.deep)], ids=["stand-in", "lm-eval"])
def test_three_of_four_answers_are_correct(tmp_path: Path, program: str | Path) -> None:
    """Without a program, the one that `perfdrv generators install lm-eval` installed."""
    defaults = {option.short_name: option.default for option in read_command(_ROLE, _ROLE).arguments}
    given: dict[str, Any] = {"model": "tiny", "tasks": {"words": 0.9}, "tasks_path": str(_TASKS)}

    async def evaluate(url: str) -> Evaluation:
        evaluation = convert({**defaults, **given, "endpoint_url": f"{url}/default/tiny"}, Evaluation)
        words = (program_of(LM_EVAL, str(program)), *arguments(evaluation, tmp_path))
        ran = await asyncio.to_thread(subprocess.run, words, cwd=_TASKS, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return evaluation

    evaluation = serve(ServedModel("tiny", Latency(0.01), Latency(0.001)), evaluate)
    (document,) = documents(evaluation, json.loads(result_file(tmp_path).read_text()), None)
    check(document)
    assert (document["accuracy"], document["samples"], document["minimum"]) == (0.75, 4, 0.9)
