# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.hosts import lines, records
from ansible_collections.psap.perf.plugins.modules.hosts.service import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult

_MODULE = "psap.perf.hosts.service"


@dataclass(frozen=True, slots=True)
class Arguments:
    state: Literal["started", "stopped"]
    directory: str
    words: lines.Words
    program: str | None
    environment: Mapping[str, Any]
    files: Mapping[str, str]
    undo: tuple[str, ...]
    url: str | None
    within: Seconds
    patience: Seconds
    attended_in: str | None
    unattended: str | None
    log: str


class ActionModule(HostAction):
    """Start or stop a program that keeps running."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return which program would be started or stopped."""
        args = context.arguments(Arguments)
        stops = args.state == "stopped"
        return f"would stop the program of {args.directory}" if stops else f"would start {args.program}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Start or stop the program; a record exists only while it starts, so a running program is not swept."""
        args = context.arguments(Arguments)
        stops = args.state == "stopped"
        if not stops and not args.program:
            raise UsageError("state started needs a program")
        if args.unattended and not args.attended_in:
            raise UsageError("unattended needs attended_in, the folder of the measurements that use the program")
        rendered = _module_arguments(args)
        work = records.HostWork(self.host_of(context), self.becomes, rendered["directory"], rendered["environment"], [])
        records.begin(context.directory, work)
        answer = self.on_host(context, _MODULE, rendered)["answer"]
        records.end(context.directory)
        self._keep_log(context, args.log, base64.b64decode(answer["log"]))
        return _stop_result(args, answer) if stops else _start_result(work.host, answer)

    def _keep_log(self, context: VerbContext, name: str, log: bytes) -> None:
        if log:
            artifacts = context.directory / "artifacts"
            artifacts.mkdir(exist_ok=True)
            (artifacts / path_part(name)).write_bytes(log)


def _start_result(host: str, answer: Mapping[str, Any]) -> VerbResult:
    if answer["problem"]:
        raise HostError(f"host {host}: {answer['problem']}")
    return VerbResult(changed=answer["started"], values={"ready_s": answer["ready_s"]})


def _stop_result(args: Arguments, answer: Mapping[str, Any]) -> VerbResult:
    early = f"the program of {args.directory} ended before it was stopped"
    warnings = (early,) if answer["there"] and not answer["ran"] else ()
    return VerbResult(changed=answer["there"], values={"ran": answer["ran"]}, warnings=warnings)


def _module_arguments(args: Arguments) -> dict[str, Any]:
    """Return the arguments of the module: lines with their words, and plain numbers."""
    words = args.words
    return {
        "state": args.state,
        "directory": args.directory,
        "program": lines.render(args.program, words) if args.program else None,
        "environment": {name: str(value) for name, value in args.environment.items()},
        "files": args.files,
        "undo": [lines.render(each, words) for each in args.undo],
        "url": args.url,
        "within": float(args.within),
        "patience": float(args.patience),
        "attended_in": args.attended_in,
        "unattended": seconds(args.unattended) if args.unattended else None,
    }
