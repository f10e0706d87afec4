# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.secrets.hiding import Hiding
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import (
    API_KEY,
    IN_POD,
    OUTPUT,
    Guidellm,
    count_requests,
    invocation,
    rates_in_words,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import marker
from ansible_collections.psap.perf.plugins.modules.serving.guidellm import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.pod_results import fetch_results
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import load_result
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import recorded_metrics
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Arguments(Guidellm):
    rates: tuple[float, ...]
    folder: str
    pod_selector: str


class ActionModule(CommandAction):
    """Run guidellm, or fetch its results."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the target and kind of the load."""
        args = context.arguments(Arguments)
        rates = ", ".join(f"{rate:g}" for rate in args.rates) or "none"
        return f"would load {args.endpoint_url}, type {args.rate_type}, rates: {rates}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run or fetch, and count the requests."""
        args = context.arguments(Arguments)
        folder = context.directory / "artifacts" / args.folder
        results = folder / "results" / OUTPUT
        results.parent.mkdir(parents=True, exist_ok=True)
        write_json(folder / "guidellm.json", marker(args, args.served_version, context.lab()))
        late: list[str] = []
        if args.pod_selector:
            _fetch(context, args, results)
        else:
            facts = {"load": rates_in_words(args.rate_type, args.rates), "flavor": args.flavor}
            with recorded_metrics(context, folder, facts, args.timeout) as late:
                _run_here(context, args, folder, results)
        return load_result(count_requests(results), late)


def _fetch(context: VerbContext, args: Arguments, results: Path) -> None:
    def fetch(stream: BinaryIO) -> None:
        fetch_results(context, args.namespace, args.pod_selector, IN_POD, stream)

    _keep(context, args, results, fetch)


def _run_here(context: VerbContext, args: Arguments, folder: Path, results: Path) -> None:
    written = results.with_name(f".{OUTPUT}")
    data = Path(args.data_file or ".").expanduser().absolute()
    found = invocation(args, args.rates, str(written.absolute()), str(data.parent))
    environment = {}
    if args.api_key:
        environment[found.key_variable] = found.key_value.replace(API_KEY, context.secret(args.api_key))
    if args.hf_token:
        environment["HF_TOKEN"] = context.secret(args.hf_token)
    program = Program((str(Path(args.program).expanduser()), *found.arguments), folder, environment)
    try:
        with shown_wait(context.directory, "guidellm", args.timeout) as show:
            run(program, folder / "run.log", args.timeout, context.check_interrupted, show)
    finally:
        if written.exists():
            with written.open("rb") as source:
                _keep(context, args, results, lambda stream: shutil.copyfileobj(source, stream, _CHUNK))
            written.unlink()


def _keep(context: VerbContext, args: Arguments, results: Path, write: Callable[[BinaryIO], None]) -> None:
    """Keep the results that *write* writes, without the key that guidellm writes to them."""
    secret = [context.secret(reference) for reference in (args.api_key, args.hf_token) if reference]
    with completing(results) as partial, partial.open("wb") as file:
        stream = Hiding(file, secret)
        write(cast("BinaryIO", stream))
        stream.flush()
