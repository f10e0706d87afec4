"""The scripts that change the disk of an image, with substitutes for programs that need a disk."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.standins.aws.image_machine import UNITS, repository, stand_ins

pytestmark = pytest.mark.slow
FILES = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/crc_refresh_image/files"


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Path:
    stand_ins(tmp_path)
    repository(tmp_path / "snc")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "spare").mkdir()
    (tmp_path / "disks").write_text(f"{tmp_path}/disk vol0a\n{tmp_path}/spare vol0b\n/dev/none\n")
    return tmp_path


def run_script(machine: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{machine / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(machine / "tmp")}
    command = ["bash", str(FILES / words[0]), *words[1:]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert list((machine / "tmp").iterdir()) == []
    return done


def refreshed(machine: Path, branch: str = "main") -> subprocess.CompletedProcess[str]:
    return run_script(machine, "refresh_image.sh", "vol-0a", "", str(machine / "snc"), branch)


def test_units_and_programs_are_put_on_the_disk(machine: Path) -> None:
    units = machine / UNITS
    (units / "crc-test.service").write_text("former")
    (units / "others.service").write_text("of others")

    assert refreshed(machine).returncode == 0

    found = {str(path.relative_to(units)) for path in units.rglob("*") if path.is_file()}
    assert found == {"crc-test.service", "others.service", "kubelet.service.d/crc.conf"}
    assert (units / "crc-test.service").read_text() == "# crc-test.service\n"
    program = machine / "disk/root/ostree/deploy/rhcos/var/usrlocal/bin/crc-test.sh"
    assert program.stat().st_mode & 0o777 == 0o755


def test_foreign_disk_is_refused(machine: Path) -> None:
    assert "Remote branch nobodys not found" in refreshed(machine, "nobodys").stderr
    (machine / "disk/root/ostree").rename(machine / "disk/root/others")
    assert "disk/root has no deployment of ostree" in refreshed(machine).stderr
    (machine / "disk/root").rename(machine / "disk/boot")
    assert "disk has no partition named root" in refreshed(machine).stderr
    (machine / "disks").write_text("/dev/nvme0n1 vol0c\n")
    done = refreshed(machine)
    assert (done.returncode, done.stderr) == (1, "no disk of this machine is the volume vol-0a\n")


def bundle(machine: Path, *names: str) -> tuple[str, str]:
    path = machine / "crc.crcbundle"
    (machine / "image").write_bytes(b"a disk")
    with tarfile.open(path, "w:xz") as archive:
        for name in names:
            archive.add(machine / "image", f"crc_libvirt_4.19.3_amd64/{name}")
    return f"file://{path}", hashlib.sha256(path.read_bytes()).hexdigest()


def test_disk_becomes_that_of_a_bundle(machine: Path) -> None:
    disk = machine / "raw"
    disk.touch()
    (machine / "disks").write_text(f"{disk} vol0a\n{machine}/spare vol0b\n")
    url, digest = bundle(machine, "crc.qcow2", "oc")

    refused = run_script(machine, "update_disk.sh", "vol-0a", "vol-0b", url, "0" * 64)
    assert f"has another SHA-256 than {'0' * 64}" in refused.stderr
    assert disk.read_bytes() == b""
    (machine / "spare/bundle").unlink()

    assert run_script(machine, "update_disk.sh", "vol-0a", "vol-0b", url, digest).returncode == 0
    assert disk.read_bytes() == b"a disk"


def test_bundle_without_a_disk_is_refused(machine: Path) -> None:
    refused = run_script(machine, "update_disk.sh", "vol-0a", "vol-0b", *bundle(machine, "oc"))
    assert refused.returncode
    assert "qcow2" in refused.stderr
