# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, plain, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.secrets.hiding import Hiding
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import (
    API_KEY,
    IN_POD,
    OUTPUT,
    counted,
    invocation,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import marker
from ansible_collections.psap.perf.plugins.modules.serving.guidellm import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.pod_results import fetch_results
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_CHUNK = 1 << 20


class ActionModule(PerfAction):
    """Run guidellm, or fetch its results."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say against what."""
        asked = context.args["arguments"]
        rates = ", ".join(f"{rate:g}" for rate in context.args["rates"]) or "none"
        return f"would load {asked['endpoint_url']}, type {asked['rate_type']}, rates: {rates}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run or fetch, and look at what there is."""
        asked = plain(context.args["arguments"])
        folder = context.directory / "artifacts" / context.args["folder"]
        results = folder / "results" / OUTPUT
        results.parent.mkdir(parents=True, exist_ok=True)
        write_json(folder / "guidellm.json", marker(asked, asked["served_version"], context.lab()))
        if context.args["pod_selector"]:
            _fetch(context, asked, results)
        else:
            _run_here(context, asked, folder, results)
        requests, failed = counted(results)
        warnings = (f"{failed} of {requests} requests failed",) if failed else ()
        return VerbResult(changed=True, values={"requests": requests, "requests_failed": failed}, warnings=warnings)


def _fetch(context: VerbContext, asked: dict[str, Any], results: Path) -> None:
    selector = context.args["pod_selector"]
    _keep(context, asked, results, lambda stream: fetch_results(context, asked["namespace"], selector, IN_POD, stream))


def _run_here(context: VerbContext, asked: dict[str, Any], folder: Path, results: Path) -> None:
    timeout_s = seconds(asked["timeout"])
    written = results.with_name(f".{OUTPUT}")
    data = Path(asked["data_file"] or ".").expanduser().absolute()
    found = invocation(asked, context.args["rates"], str(written.absolute()), str(data.parent))
    environment = {}
    if asked["api_key"]:
        environment[found.key_variable] = found.key_value.replace(API_KEY, context.secret(asked["api_key"]))
    if asked["hf_token"]:
        environment["HF_TOKEN"] = context.secret(asked["hf_token"])
    program = Program((str(Path(asked["program"]).expanduser()), *found.arguments), folder, environment)
    try:
        with shown_wait(context.directory, "guidellm", timeout_s) as show:
            run(program, folder / "run.log", timeout_s, context.check_interrupted, show)
    finally:
        if written.exists():
            with written.open("rb") as source:
                _keep(context, asked, results, lambda stream: shutil.copyfileobj(source, stream, _CHUNK))
            written.unlink()


def _keep(context: VerbContext, asked: dict[str, Any], results: Path, write: Callable[[BinaryIO], None]) -> None:
    """Keep the results that *write* writes, without the key that guidellm writes to them."""
    secret = [context.secret(asked[name]) for name in ("api_key", "hf_token") if asked[name]]
    with completing(results) as partial, partial.open("wb") as file:
        stream = Hiding(file, secret)
        write(cast("BinaryIO", stream))
        stream.flush()
