"""Starts programs of a lab and waits until they are ready, or reports which one failed and why."""

from __future__ import annotations

import asyncio
import dataclasses
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import aiohttp

from perflab.errors import ClusterError
from perflab.processes import ports, process
from perflab.processes.program import Program
from perflab.processes.state import Lab

READY_TIMEOUT_S = 240.0
SEEN_TIMEOUT_S = 240.0
_POLL_S = 0.05
# an API server that starts on a busy machine takes seconds to respond
_ANSWER_TIMEOUT_S = 10.0
_LOG_LINES = 12
_PORT_TAKEN = "address already in use"
_NO_FILE = "too many open files"
_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")


class PortTakenError(ClusterError):
    """Another process uses the port of a program: choose other ports and start again."""


def start(lab: Lab, program: Program) -> Lab:
    """Start one program and record it in `lab.json`; return the lab with its process."""
    identity = process.start(program.command, lab.folder, lab.log(program.name), program.environment)
    lab = dataclasses.replace(
        lab,
        pids={**lab.pids, program.name: identity},
        programs={**lab.programs, program.name: program},
    )
    lab.write()
    return lab


async def wait_ready(
    lab: Lab, programs: list[Program], timeout_s: float = READY_TIMEOUT_S, watched: Sequence[str] | None = None
) -> None:
    """Wait until the health check of each program succeeds.

    The end of any program, or only of those *watched*, ends the wait. Raises PortTakenError if another process took a
    program's port, ClusterError if one ended or did not become ready in time; the message ends with the last lines of
    its log, or states why its certificate is refused, which does not change by waiting.
    """
    tls = ssl.create_default_context(cafile=str(lab.folder / "pki" / "ca.crt"))
    timeout = aiohttp.ClientTimeout(total=_ANSWER_TIMEOUT_S)
    connector = aiohttp.TCPConnector(ssl=tls)
    deadline = time.monotonic() + timeout_s
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        waiting = [program for program in programs if program.health]
        while waiting:
            check_alive(lab, watched)
            answers = await asyncio.gather(*(_is_healthy(session, lab, program) for program in waiting))
            waiting = [
                program
                for program, well in zip(waiting, answers, strict=True)
                if not (well and _is_its_own_answer(lab, program))
            ]
            if waiting and time.monotonic() > deadline:
                raise _failure(lab, waiting[0].name, f"was not ready within {timeout_s:.0f} s")
            await asyncio.sleep(_POLL_S if waiting else 0)


async def wait_until(lab: Lab, what: str, check: Callable[[], Awaitable[bool]]) -> None:
    """Wait until `check` returns true; `what` names the condition ("4 nodes are Ready").

    Raises ClusterError if a program ends meanwhile, or if the condition is not met in time.
    """
    deadline = time.monotonic() + SEEN_TIMEOUT_S
    while not await check():
        check_alive(lab)
        if time.monotonic() > deadline:
            raise ClusterError(
                f"in the lab {lab.name!r}, this did not happen within {SEEN_TIMEOUT_S:.0f} s: {what}. The "
                f"components' logs are in {lab.folder / 'logs'}."
            )
        await asyncio.sleep(_POLL_S)


def check_alive(lab: Lab, watched: Sequence[str] | None = None) -> None:
    """Raise if a started program, or one of those *watched*, does not run any more."""
    for name in lab.dead_components():
        if watched is None or name in watched:
            raise _failure(lab, name, "ended")


async def _is_healthy(session: aiohttp.ClientSession, lab: Lab, program: Program) -> bool:
    assert program.health is not None  # noqa: S101  filtered by the caller
    try:
        async with session.get(program.health) as answer:
            return answer.status == 200
    except aiohttp.ClientConnectorCertificateError as error:
        # another process that took the port has another certificate
        if _is_its_own_answer(lab, program):
            raise ClusterError(
                f"cannot verify the certificate of {program.name} at {program.health}: {error.certificate_error}"
            ) from error
        return False
    except (aiohttp.ClientError, TimeoutError):
        return False


def _is_its_own_answer(lab: Lab, program: Program) -> bool:
    # another process that took the port might respond as well
    return ports.is_listening(lab.pids[program.name].pid, lab.ports[program.name])


def _failure(lab: Lab, name: str, what: str) -> ClusterError:
    log = lab.log(name)
    text = log.read_text(errors="replace")
    last = "\n  ".join(text.splitlines()[-_LOG_LINES:]) or "(no output)"
    message = f"{name} {what}. The end of {log}:\n  {last}{advice(text)}"
    if what == "ended" and _PORT_TAKEN in text:
        return PortTakenError(message)
    return ClusterError(message)


def advice(log: str, limit: Path = _INSTANCES) -> str:
    """Return advice on the error in a program's *log*, if it is known; *limit* is the system's file."""
    if _NO_FILE not in log:
        return ""
    allowed = limit.read_text(encoding="utf-8").strip() if limit.exists() else "?"
    return (
        f"\nThe system allows one user {allowed} file watches (fs.inotify.max_user_instances), and a lab "
        "needs about 13: delete labs that you do not need (perflab status), or raise the limit."
    )
