# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError
from ansible_collections.psap.perf.plugins.module_utils.hosts import lines, records
from ansible_collections.psap.perf.plugins.module_utils.hosts.clocks import Clock
from ansible_collections.psap.perf.plugins.modules.hosts.run import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Proof:
    output: str
    program: str | None


@dataclass(frozen=True, slots=True)
class Arguments:
    words: lines.Words
    directory: str
    environment: Mapping[str, Any]
    files: Mapping[str, str]
    setup: tuple[lines.Step, ...]
    prepare: tuple[lines.Step, ...]
    program: lines.Step | None
    beside: str | None
    runs: int
    timeout: Seconds
    proof: tuple[Proof, ...]
    numbers: Mapping[str, str]
    least: Seconds
    tolerated: str | None
    secrets: Mapping[str, str]
    left: tuple[str, ...]


class ActionModule(HostAction):
    """Run programs and time one of them."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the program, and how often it would run."""
        args = context.arguments(Arguments)
        return f"would run {args.program} {args.runs} times"

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the work, do it on the host, and delete the record when all is undone."""
        args = context.arguments(Arguments)
        rendered = _module_arguments(args)
        work = records.HostWork(
            self.host_of(context), self.becomes, rendered["directory"], rendered["environment"], rendered["left"]
        )
        secrets = {
            name: base64.b64encode(context.secret(reference).encode()).decode()
            for name, reference in args.secrets.items()
        }
        records.begin(context.directory, work)
        begun = time.time()
        answer = self.on_host(context, "psap.perf.hosts.run", {**rendered, "secrets": secrets})["answer"]
        clock = Clock.compare((begun, time.time()), (answer["begun"], answer["ended"]))
        for run in answer["runs"]:
            run["started"] -= clock.correction_s
        values = {
            "runs": answer["runs"],
            "overhead": answer["overhead"],
            "setup": answer["setup"],
            "stdout": answer["stdout"],
            "clock": {"offset_s": clock.offset_s, "within_s": clock.within_s},
            "monotonic_zero": answer["ended"] - answer["monotonic"] - clock.correction_s,
        }
        if answer["clean"]:
            records.end(context.directory)
        if answer["problem"]:
            raise HostError(f"host {work.host}: {answer['problem']}", values)
        warned = f"the clock of {work.host} differs by {clock.offset_s:.1f} s; times are corrected by that"
        warnings = (warned,) if abs(clock.correction_s) > 1 else ()
        return VerbResult(changed=bool(rendered["program"]), values=values, warnings=warnings)


def _module_arguments(args: Arguments) -> dict[str, Any]:
    """Return the arguments of the module: lines with their words, and plain numbers."""
    words = args.words
    return {
        "directory": args.directory,
        "environment": {name: str(value) for name, value in args.environment.items()},
        "files": args.files,
        "setup": lines.steps(args.setup, words),
        "prepare": lines.steps(args.prepare, words),
        "program": lines.steps([args.program], words)[0] if args.program else None,
        "beside": lines.render(args.beside, words) if args.beside else None,
        "runs": args.runs,
        "timeout": float(args.timeout),
        "proof": [
            {"output": each.output, "program": lines.render(each.program, words) if each.program else None}
            for each in args.proof
        ],
        "numbers": args.numbers,
        "least": float(args.least),
        "tolerated": args.tolerated,
        "left": [lines.render(each, words) for each in args.left],
    }
