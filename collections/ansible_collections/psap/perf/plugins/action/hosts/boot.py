# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event

from ansible.errors import AnsibleConnectionFailure
from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.hosts.booting import StartProgram, first_answer, listens, ping
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult

_SSH_PORT = 22


@dataclass(frozen=True, slots=True)
class Arguments:
    start: tuple[str, ...]
    stop: tuple[str, ...]
    timeout: Seconds


class ActionModule(CommandAction, HostAction):
    """Start a machine and time its first answers."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the program that would start the host."""
        return f"would start {context.host} with {' '.join(context.arguments(Arguments).start)}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Stop the host if it answers, start it, and try to log in until it works."""
        if self._connection.transport != "ssh":
            raise UsageError(f"{context.host} has connection {self._connection.transport}: a boot is timed over ssh")
        host, args = self.host_of(context), context.arguments(Arguments)
        address = str(self._connection.get_option("host"))
        port = int(self._connection.get_option("port") or _SSH_PORT)
        self._stop(context, args, address, port)
        # a connection from before the boot is dead
        self._connection.reset()
        started, begun = time.time(), time.monotonic()
        program = StartProgram(args.start, context.directory / "artifacts/start.log")

        def wanted() -> bool:
            context.check_interrupted()
            program.check()
            if time.monotonic() - begun > args.timeout:
                raise WaitTimeoutError(f"{host} was started, but no login by SSH succeeds within {args.timeout:.0f} s")
            return True

        echoed, ended = ping(address), Event()
        with ThreadPoolExecutor(1) as executor:
            pinged = executor.submit(first_answer, echoed, begun, lambda: not ended.is_set()) if echoed else None
            try:
                login = first_answer(lambda: listens(address, port) and self._can_log_in(), begun, wanted)
            finally:
                ended.set()
        answers = {"ping": pinged.result() if pinged else None, "ssh": login}
        values = {name: asdict(answer) if answer else None for name, answer in answers.items()}
        return VerbResult(changed=True, values={"started": started, **values})

    def _stop(self, context: VerbContext, args: Arguments, address: str, port: int) -> None:
        if not listens(address, port):
            return
        if args.stop:
            program = Program(args.stop, Path.cwd(), {})
            log = context.directory / "artifacts/stop.log"
            run(program, log, args.timeout, context.check_interrupted, lambda _line: None)
        if listens(address, port):
            raise HostError(f"{self.host_of(context)} already runs before it is started: set the program that stops it")

    def _can_log_in(self) -> bool:
        try:
            return int(self._low_level_execute_command("true", sudoable=False)["rc"]) == 0
        except AnsibleConnectionFailure:
            return False
