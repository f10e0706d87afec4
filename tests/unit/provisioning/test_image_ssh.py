"""A machine's host key that is known before its start, and valid command lines of OpenSSH."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.provisioning.image_ssh import HostKey, Login, key_file

pytestmark = pytest.mark.slow


def keygen(*words: str) -> str:
    return subprocess.run(["ssh-keygen", *words], capture_output=True, text=True, check=True).stdout


def test_machine_has_the_expected_host_key(tmp_path: Path) -> None:
    key = HostKey.new()
    given = yaml.safe_load(key.user_data())
    with key_file(given["ssh_keys"]["ed25519_private"]) as path:
        assert keygen("-y", "-f", str(path)).split()[:2] == given["ssh_keys"]["ed25519_public"].split()
    (tmp_path / "known_hosts").write_text(key.known_hosts())
    assert keygen("-l", "-f", str(tmp_path / "known_hosts")).split()[2] == "psap-perf-image-worker"


def test_private_key_is_removed_after_use() -> None:
    with key_file("a key") as path:
        assert path.read_text() == "a key\n"
        assert path.stat().st_mode & 0o077 == 0
    assert not path.exists()


def test_openssh_parses_the_command_lines_correctly() -> None:
    login = Login("fedora", "192.0.2.1", Path("/a folder/key"), Path("/a folder/known_hosts"))
    program, *words, command = login.run("sudo", "bash", "it is", "")
    output = subprocess.run([program, "-G", *words], capture_output=True, text=True, check=True).stdout
    read = dict(line.split(" ", 1) for line in output.splitlines())
    assert (read["user"], read["hostname"], read["hostkeyalias"]) == ("fedora", "192.0.2.1", "psap-perf-image-worker")
    assert (read["identityfile"].strip('"'), read["batchmode"]) == ("/a folder/key", "yes")
    assert read["userknownhostsfile"].strip('"') == "/a folder/known_hosts"
    assert read["stricthostkeychecking"] in ("yes", "true")
    assert command == "sudo bash 'it is' ''"
    assert login.copy(Path("/files"), "there")[-2:] == ("/files", "fedora@192.0.2.1:there")
