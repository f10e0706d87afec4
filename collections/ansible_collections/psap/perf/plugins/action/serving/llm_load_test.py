# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, write_json, write_text, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_load_test import OUTPUT, configuration, counted
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import marker
from ansible_collections.psap.perf.plugins.modules.serving.llm_load_test import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

# beside the duration of the load: for what is in flight at its end, and for the program to begin
_BESIDE_S = 1500.0


class ActionModule(PerfAction):
    """Run llm-load-test."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say against what."""
        asked = context.args["arguments"]
        return f"would load {asked['host']}:{asked['port']} for {asked['duration']} s with {asked['concurrency']} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run it to its end, and look at what it left."""
        asked = plain(context.args["arguments"])
        artifacts = context.directory / "artifacts"
        config = context.directory / "src" / "llm_load_test.yml"
        for folder in (config.parent, artifacts / "output"):
            folder.mkdir(parents=True, exist_ok=True)
        write_text(config, yaml_text(configuration(asked, artifacts / "output")))
        write_json(artifacts / "llm_load_test.json", marker(asked, asked["version"], context.lab()))
        timeout_s = seconds(asked["timeout"]) if asked["timeout"] else asked["duration"] + _BESIDE_S
        with shown_wait(context.directory, "the load test", timeout_s) as show:
            run(_program(asked, config), artifacts / "run.log", timeout_s, context.check_interrupted, show)
        requests, failed = counted(artifacts / "output" / OUTPUT)
        warnings = (f"{failed} of {requests} requests failed",) if failed else ()
        return VerbResult(changed=True, values={"requests": requests, "requests_failed": failed}, warnings=warnings)


def _program(asked: Mapping[str, Any], config: Path) -> Program:
    command = (asked["python_cmd"] or sys.executable, "load_test.py", "-c", str(config.absolute()))
    # its workers are processes, which share the cores already
    environment = {"PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    return Program(command, Path(asked["src_path"]).expanduser().absolute(), environment)
