"""Start and end a submitting process on this machine."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, cast

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import child_command
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handover import encode_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder, OwnFolder


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """Starts submitters on this machine."""

    endpoint: ApiEndpoint

    def start(self, folder: Folder, number: int) -> SubmitterProcess:
        """Start process *number* of the submission in *folder*.

        Raises:
            PerfError: If the process cannot be started.
        """
        own = folder.of(number)
        own.path.mkdir()
        command = child_command("scale_test.submitters.working", str(folder.path), str(number))
        try:
            with own.log.open("wb") as log:
                process = subprocess.Popen(  # noqa: S603 - this Python, our own program
                    command, stdin=subprocess.PIPE, stdout=log, stderr=log
                )
        except OSError as error:
            raise PerfError(f"submitter {number} cannot be started: {error.strerror}") from error
        # the end of a process that died immediately is reported later
        with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as stream:
            stream.write(encode_endpoint(self.endpoint))
        return SubmitterProcess(process, own)


class SubmitterProcess:
    """A started submitting process."""

    def __init__(self, process: subprocess.Popen[bytes], own: OwnFolder) -> None:
        self._process = process
        self._own = own

    def fate(self) -> str | None:
        """Return how it ended, as a phrase that follows its name; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        lines = self._own.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"ended with exit code {code}" + (f" ({lines[-1]})" if lines else "")

    def kill(self) -> None:
        """End it immediately, if it still runs."""
        self._process.kill()
        self._process.wait()
