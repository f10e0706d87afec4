# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json, write_text, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_load_test import (
    OUTPUT,
    LlmLoadTest,
    configuration,
    count_requests,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import marker
from ansible_collections.psap.perf.plugins.modules.serving.llm_load_test import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import load_result
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import recorded_metrics
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments(LlmLoadTest):
    ran_in_job: bool


class ActionModule(CommandAction):
    """Run llm-load-test, or record the results that a Job left."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the target and size of the load."""
        load = context.arguments(LlmLoadTest)
        return f"would load {load.host}:{load.port} for {load.duration} s with {load.concurrency} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run the program to its end, unless a Job ran it, and count the requests in its results."""
        load = context.arguments(Arguments)
        artifacts = context.directory / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        position: dict[str, str | int] = {"phase": load.phase, "round": load.round}
        write_json(artifacts / "llm_load_test.json", marker(load, load.version, context.lab(), position))
        late: list[str] = []
        if not load.ran_in_job:
            facts = {"load": load.words, "flavor": load.flavor, **position}
            with recorded_metrics(context, artifacts, facts, load.timeout_s) as late:
                _run_here(context, load, artifacts)
        return load_result(count_requests(artifacts / "output" / OUTPUT), late)


def _run_here(context: VerbContext, load: LlmLoadTest, artifacts: Path) -> None:
    config = context.directory / "src" / "llm_load_test.yml"
    for folder in (config.parent, artifacts / "output"):
        folder.mkdir(parents=True, exist_ok=True)
    write_text(config, yaml_text(configuration(load, artifacts / "output")))
    with shown_wait(context.directory, "the load test", load.timeout_s) as show:
        run(_program(load, config), artifacts / "run.log", load.timeout_s, context.check_interrupted, show)


def _program(load: LlmLoadTest, config: Path) -> Program:
    command = (load.python_cmd or sys.executable, "load_test.py", "-c", str(config.absolute()))
    # its workers are processes, which already share the cores
    environment = {"PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    return Program(command, Path(load.src_path).expanduser().absolute(), environment)
