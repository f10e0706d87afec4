# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import path_part
from ansible_collections.psap.perf.plugins.module_utils.base.programs import Ended, Program, run_program
from ansible_collections.psap.perf.plugins.modules.run import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_SHOWN = 4000


class ActionModule(PerfAction):
    """Run a program."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    USES_CONNECTION = True
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be run."""
        return f"would run {shlex.join(context.args['argv'])}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Run it and keep its output, redacted."""
        args = context.args
        environment = {name: str(value) for name, value in args["environment"].items()}
        environment |= {name: context.secret(str(value)) for name, value in args["secret_environment"].items()}
        log = context.directory / "artifacts" / f"{path_part(args['log'] or Path(args['argv'][0]).name)}.log"
        folder = Path(args["chdir"]) if args["chdir"] else context.directory
        program = Program(args["argv"], environment, folder, args["stdin"], seconds(args["timeout"]))
        try:
            if args["on_host"]:
                ended = self._on_host(program, log, context)
            else:
                redact = context.redactor.redact if context.redactor.values else None
                ended = run_program(program, log, context.check_interrupted, redact)
        finally:
            output = _redact(log, context)
        values: dict[str, Any] = {
            "rc": ended.exit_code,
            "stdout": output[-_SHOWN:],
            "log": str(log),
            "duration_s": ended.duration_s,
        }
        if ended.exit_code not in (*args["ok_exit_codes"], *args["changed_exit_codes"]):
            error = PerfError(
                f"{args['argv'][0]} ended with {ended.exit_code}: {output.strip()[-400:]} (all of it: {log})"
            )
            error.result = values
            raise error
        return VerbResult(changed=ended.exit_code in args["changed_exit_codes"], values=values)

    def _on_host(self, program: Program, log: Path, context: VerbContext) -> Ended:
        """Over the connection, which cannot be interrupted; the remote ``timeout`` bounds it.

        The environment goes before the program's own input: Ansible shows whole commands at ``-vvv``, but no input.
        """
        started = time.monotonic()
        exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in program.environment.items())
        bounded = shlex.join(["timeout", f"{program.timeout_s:g}", *program.argv])
        script = f'eval "$(dd bs=1 count={len(exports.encode())} 2>/dev/null)" && exec {bounded}'
        done = self._low_level_execute_command(
            shlex.join(["sh", "-c", script]), in_data=f"{exports}{program.stdin or ''}".encode()
        )
        write_text(log, context.redactor.redact(f"{done.get('stdout', '')}{done.get('stderr', '')}"))
        return Ended(int(done["rc"]), round(time.monotonic() - started, 3))


def _redact(log: Path, context: VerbContext) -> str:
    if not log.exists():
        return ""
    text: str = context.redactor.redact(log.read_text(encoding="utf-8", errors="replace"))
    if context.redactor.values:
        write_text(log, text)
    return text
