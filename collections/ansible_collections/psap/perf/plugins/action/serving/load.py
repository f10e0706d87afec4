# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import API_KEY, Folders, Load
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.cpu import CpuWatch
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inputs import fetched
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import program_of
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.loads import (
    invocation,
    load_facts,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import marker
from ansible_collections.psap.perf.plugins.modules.serving.load import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import load_result
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import recorded_metrics
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments(Load):
    ran_in_job: bool
    data_claim: str
    s3_endpoint: str
    s3_credentials: str


class ActionModule(CommandAction):
    """Run a load generator, or record the results that a Job left."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the target and size of the load."""
        load = context.arguments(Arguments)
        return f"would load {load.endpoint_url} by {load.generator} with {load.words}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run the program to its end, unless a Job ran it, and count the requests in its results."""
        load = context.arguments(Arguments)
        generator = generator_of(load.generator)
        artifacts = context.directory / "artifacts"
        artifacts.mkdir(parents=True, exist_ok=True)
        watch, late = CpuWatch(), list[str]()
        if not load.ran_in_job:
            if load.data_claim:
                raise UsageError("data_claim is for a Job; set image, or remove it")
            sent = fetched(load, _access(context, load), _folder(context, "src"))
            facts = {"load": load.words, "flavor": load.flavor, "phase": load.phase, "round": load.round}
            with recorded_metrics(context, artifacts, facts, load.timeout_s) as late:
                _run_here(context, sent, artifacts, watch)
        # the clock of this machine, by which some generators record times
        here = {"monotonic_offset_s": time.time() - time.monotonic(), "generator_cpu": watch.document()}
        position: dict[str, str | int] = {"phase": load.phase, "round": load.round}
        document = marker(load, load.version, context.lab(), position)
        write_json(artifacts / generator.marker, {**document, **load_facts(load), **({} if load.ran_in_job else here)})
        return load_result(generator.count(artifacts / generator.results_folder), late)


def _folder(context: VerbContext, name: str) -> Path:
    folder = context.directory / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _access(context: VerbContext, load: Arguments) -> Access:
    keys = Keys.parse(context.secret(load.s3_credentials)) if load.s3_credentials else None
    return Access(load.s3_endpoint, keys=keys)


def _run_here(context: VerbContext, load: Load, artifacts: Path, watch: CpuWatch) -> None:
    generator = generator_of(load.generator)
    inputs, written = _folder(context, "src"), _folder(context, "results")
    invoked = invocation(load, Folders(str(inputs.absolute()), str(written.absolute())))
    program = program_of(generator, load.program)
    for name, text in invoked.files.items():
        write_text(inputs / name, text)
    key = context.secret(load.api_key) if load.api_key else ""
    environment = {name: value.replace(API_KEY, key) for name, value in invoked.environment.items()}
    try:
        with shown_wait(context.directory, load.generator, load.timeout_s) as show:
            command = Program((program, *invoked.arguments), written, environment)
            run(command, artifacts / "run.log", load.timeout_s, context.check_interrupted, show, watch.sample)
    finally:
        for name, kept in generator.results.items():
            if (written / name).exists():
                (artifacts / kept).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(written / name, artifacts / kept)
        shutil.rmtree(written)
