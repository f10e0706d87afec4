# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import (
    FILE,
    LM_EVAL,
    Evaluation,
    arguments,
    documents,
    result_file,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import program_of
from ansible_collections.psap.perf.plugins.modules.serving.evaluate import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(CommandAction):
    """Measure the accuracy of a served model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model and the tasks."""
        evaluation = context.arguments(Evaluation)
        return f"would evaluate {evaluation.model} on {', '.join(evaluation.tasks)}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run the program to its end, and write a document for each task."""
        evaluation = context.arguments(Evaluation)
        artifacts = context.directory / "artifacts"
        results = (artifacts / "results").absolute()
        words = arguments(evaluation, results)
        # tasks name their data sets relative to their folder
        folder = Path(evaluation.tasks_path).expanduser() if evaluation.tasks_path else context.directory
        environment = {"OPENAI_API_KEY": context.secret(evaluation.api_key)} if evaluation.api_key else {}
        command = Program((program_of(LM_EVAL, evaluation.program), *words), folder, environment)
        with shown_wait(context.directory, LM_EVAL.name, evaluation.timeout_s) as show:
            run(command, artifacts / "run.log", evaluation.timeout_s, context.check_interrupted, show)
        found = list(documents(evaluation, read_json(result_file(results)), context.lab()))
        warnings = []
        for document in found:
            of_task = artifacts / path_part(document["task"])
            of_task.mkdir(exist_ok=True)
            write_json(of_task / FILE, document)
            if document["minimum"] and document["accuracy"] < document["minimum"]:
                value, minimum = f"{document['accuracy']:.4g}", f"{document['minimum']:g}"
                warnings.append(f"the accuracy of {document['task']} is {value}, below its minimum {minimum}")
        accuracy = {document["task"]: document["accuracy"] for document in found}
        return VerbResult(changed=True, values={"accuracy": accuracy}, warnings=tuple(warnings))
