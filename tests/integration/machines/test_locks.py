"""The lock of a host that is reached over a real SSH connection, which drops."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.file_lock import FileLock

from tests.integration.machines.conftest import Machine
from tests.polling import PATIENCE_S, wait_until

pytestmark = pytest.mark.deep


def test_waiter_survives_a_lost_connection_and_takes_over(machine: Machine, tmp_path: Path) -> None:
    folder = machine.folder / "work" / "lock"
    lock = FileLock(folder)
    host = ("-i", str(machine.folder / "hosts.yml"), "--host", "sutest", "--folder", str(folder))
    take, release = (("toolbox", "cluster", name, *host) for name in ("lock", "release-lock"))
    code, output = machine.run(tmp_path, *take, "--owner", "ada", "--duration", "90s")
    assert code == 0, output
    waits = machine.start(tmp_path, *take, "--owner", "bob", "--duration", "1h", "--timeout", "5m")
    logs = functools.partial(tmp_path.glob, "*/ansible.log")
    wait_until(lambda: any("waits: " in path.read_text(encoding="utf-8") for path in logs()), during=waits)

    machine.stop_sshd()
    for words in (release, (*take, "--duration", "1h")):
        code, output = machine.run(tmp_path, *words, "--owner", "ada")
        assert code == 3, output
        assert "host sutest cannot be reached" in output
    assert waits.poll() is None
    machine.start_sshd()

    output, _nothing = waits.communicate(timeout=PATIENCE_S)
    assert waits.returncode == 0, output
    holder = lock.read().holder
    assert holder and holder.who.owner == "bob"
    assert machine.run(tmp_path, *release, "--owner", "bob")[0] == 0
    assert lock.read().holder is None
    machine.inside("rm", "-r", str(folder))
