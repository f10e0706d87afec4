# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.hosts import lines, records
from ansible_collections.psap.perf.plugins.modules.hosts.service import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_MODULE = "psap.perf.hosts.service"


class ActionModule(HostAction):
    """Start or stop a program that runs on."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """The program, or whose end."""
        if context.args["state"] == "stopped":
            return f"would stop the program of {context.args['directory']}"
        return f"would start {context.args['program']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """What was killed while it started a program is noted; one that runs is what the command was run for."""
        stops = context.args["state"] == "stopped"
        if not stops and not context.args["program"]:
            raise UsageError("a service that is started needs its program")
        if context.args["unattended"] and not context.args["attended_in"]:
            raise UsageError("unattended needs attended_in, the folder in which it is looked for who works")
        rendered = _rendered(context.args)
        work = records.HostWork(self.host_of(context), self.becomes, rendered["directory"], rendered["environment"], [])
        records.begin(context.directory, work)
        answer = self.on_host(context, _MODULE, rendered)["answer"]
        records.end(context.directory)
        self._keep_log(context, base64.b64decode(answer["log"]))
        return _stopped(context, answer) if stops else _started(work.host, answer)

    def _keep_log(self, context: VerbContext, log: bytes) -> None:
        if log:
            artifacts = context.directory / "artifacts"
            artifacts.mkdir(exist_ok=True)
            (artifacts / path_part(context.args["log"])).write_bytes(log)


def _started(host: str, answer: Mapping[str, Any]) -> VerbResult:
    if answer["problem"]:
        raise HostError(f"host {host}: {answer['problem']}")
    return VerbResult(changed=answer["started"], values={"ready_s": answer["ready_s"]})


def _stopped(context: VerbContext, answer: Mapping[str, Any]) -> VerbResult:
    early = f"the program of {context.args['directory']} had ended by itself before it was stopped"
    warnings = (early,) if answer["there"] and not answer["ran"] else ()
    return VerbResult(changed=answer["there"], values={"ran": answer["ran"]}, warnings=warnings)


def _rendered(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the words in their lines."""
    words = args["words"]
    return {
        "state": args["state"],
        "directory": args["directory"],
        "program": lines.render(args["program"], words) if args["program"] else None,
        "environment": {name: str(value) for name, value in args["environment"].items()},
        "files": args["files"],
        "undo": [lines.render(each, words) for each in args["undo"]],
        "url": args["url"],
        "within": seconds(args["within"]),
        "patience": seconds(args["patience"]),
        "attended_in": args["attended_in"],
        "unattended": seconds(args["unattended"]) if args["unattended"] else None,
    }
