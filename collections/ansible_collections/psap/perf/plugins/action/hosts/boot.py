# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import Event

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.hosts.booting import Started, first_answer, listens, ping
from ansible_collections.psap.perf.plugins.modules.hosts.boot import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_SSH_PORT = 22


class ActionModule(HostAction):
    """Start a machine and time its first answers."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """What would start it."""
        return f"would start {context.host} with {' '.join(context.args['start'])}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Stop it if it answers, start it, and try until it lets in."""
        if self._connection.transport != "ssh":
            raise UsageError(f"{context.host} has connection {self._connection.transport}: a boot is timed over ssh")
        host, timeout_s = self.host_of(context), seconds(context.args["timeout"])
        address = str(self._connection.get_option("host"))
        port = int(self._connection.get_option("port") or _SSH_PORT)
        self._stopped(context, address, port, timeout_s)
        # a connection of before the boot leads nowhere
        self._connection.reset()
        started, begun = time.time(), time.monotonic()
        program = Started(context.args["start"], context.directory / "artifacts/start.log")

        def wanted() -> bool:
            context.check_interrupted()
            program.check()
            if time.monotonic() - begun > timeout_s:
                raise WaitTimeoutError(f"{host} was started, but does not let in by SSH within {timeout_s:.0f} s")
            return True

        echoed, ended = ping(address), Event()
        with ThreadPoolExecutor(1) as beside:
            pinged = beside.submit(first_answer, echoed, begun, lambda: not ended.is_set()) if echoed else None
            try:
                login = first_answer(lambda: listens(address, port) and self._lets_in(), begun, wanted)
            finally:
                ended.set()
        answers = {"ping": pinged.result() if pinged else None, "ssh": login}
        values = {name: asdict(answer) if answer else None for name, answer in answers.items()}
        return VerbResult(changed=True, values={"started": started, **values})

    def _stopped(self, context: VerbContext, address: str, port: int, timeout_s: float) -> None:
        if not listens(address, port):
            return
        if context.args["stop"]:
            program = Program(tuple(context.args["stop"]), Path.cwd(), {})
            log = context.directory / "artifacts/stop.log"
            run(program, log, timeout_s, context.check_interrupted, lambda _said: None)
        if listens(address, port):
            raise HostError(f"{self.host_of(context)} answers before it is started: name the program that stops it")

    def _lets_in(self) -> bool:
        try:
            return int(self._low_level_execute_command("true", sudoable=False)["rc"]) == 0
        except AnsibleConnectionFailure:
            return False
