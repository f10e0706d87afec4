"""The process around one call of ansible-runner; the only code that knows its keywords.

    python -m perfdrv.worker PARENT_PID   (a JSON request on stdin, JSON lines on stdout)

A process of its own, because ansible-runner forks, waits and handles signals as if it were alone:
so a terminal's Ctrl-C does not reach Ansible, several can run side by side, and the kernel ends the
chain driver → worker → Ansible from its top when the driver is killed.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from perfdrv.collection import activate
from perfdrv.errors import EXIT_INTERRUPTED
from perfdrv.private_directory import PrivateDirectory
from perfdrv.supervised import adopt_orphans, die_with


@dataclass(frozen=True, slots=True)
class AnsibleEvent:
    """What the driver shows of an event; `name` is ansible-runner's, for example `runner_on_failed`."""

    name: str
    play: str = ""
    task: str = ""
    role: str = ""
    host: str = ""
    message: str = ""
    stdout: str = ""


@dataclass(frozen=True, slots=True)
class AnsibleEnd:
    """How ansible-playbook ended: its exit code, or None when a signal killed it."""

    code: int | None


def main() -> None:
    """Run one request and report each event, then the end, as JSON lines."""
    request = json.load(sys.stdin)
    private = PrivateDirectory(Path(request["private"]))
    _end_with_driver(int(sys.argv[1]), Path(request["project"]), private)
    # libraries may print; the lines of the protocol keep the real stdout for themselves
    report = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def on_event(event: AnsibleEvent) -> None:
        _write(report, {"event": asdict(event)})

    end = run_ansible(private.runner, Path(request["project"]), request["arguments"], on_event)
    _write(report, {"end": asdict(end)})


def _end_with_driver(driver: int, project: Path, private: PrivateDirectory) -> None:
    """Kill all that was started here when the driver dies: only Ansible's main process would go by itself."""
    activate(project)
    from ansible_collections.psap.perf.plugins.module_utils.base.processes import kill_descendants

    def end(_number: int, _frame: FrameType | None) -> None:
        kill_descendants(os.getpid())
        private.remove()
        os._exit(EXIT_INTERRUPTED)

    adopt_orphans()
    signal.signal(signal.SIGTERM, end)
    die_with(driver, signal.SIGTERM)


def run_ansible(
    private: Path, project: Path, arguments: list[str], on_event: Callable[[AnsibleEvent], None]
) -> AnsibleEnd:
    """Run ansible-playbook under ansible-runner, in this process's environment.

    Args:
        private: an empty folder for ansible-runner's files.
        project: the working directory of Ansible.
        arguments: of ansible-playbook.
        on_event: called for each event, in order.
    """
    import ansible_runner
    import pexpect

    def handle(event: dict[str, Any]) -> bool:
        on_event(_event(event))
        return False  # the run directory has its own records; no event files

    try:
        runner = ansible_runner.run(
            private_data_dir=str(private),
            project_dir=str(project),
            binary=sys.executable,
            cmdline=shlex.join(["-m", "perfdrv.supervised", str(os.getpid()), "ansible-playbook", *arguments]),
            event_handler=handle,
            # without one ansible-runner takes SIGTERM for itself
            cancel_callback=lambda: False,
            settings={"suppress_ansible_output": True, "suppress_output_file": True},
        )
    except pexpect.TIMEOUT:
        # Ansible is dead, an orphan of it holds the terminal, and ansible-runner lost the exit code
        return AnsibleEnd(code=None)
    return AnsibleEnd(code=runner.rc)


def _event(event: Mapping[str, Any]) -> AnsibleEvent:
    data = event.get("event_data") or {}
    result = data.get("res")
    message = result.get("msg", "") if isinstance(result, dict) else ""
    return AnsibleEvent(
        name=str(event.get("event", "")),
        play=str(data.get("play", "")),
        task=str(data.get("task", "")),
        role=str(data.get("resolved_role") or data.get("role") or ""),
        host=str(data.get("host", "")),
        message=message if isinstance(message, str) else json.dumps(message, default=str),
        stdout=str(event.get("stdout", "")),
    )


def _write(report: TextIO, document: Mapping[str, Any]) -> None:
    report.write(json.dumps(document, default=str) + "\n")


if __name__ == "__main__":
    main()
