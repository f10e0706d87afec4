"""Machines of AWS that are reached by SSH: a server of moto, and a real sshd in place of its newest machine.

``python -m tests.standins.aws.image_machine serve FOLDER`` serves until FOLDER/aws.json is removed, 39 minutes at most.
When a machine has its disk, an sshd starts on loopback with the host key of the machine's user data, as cloud-init
would; it lets the key pair of the machine in, as the user who runs this. Programs that need a disk, such as mount, are
stand-ins, tests/standins/aws/programs; ``ssh`` and ``scp`` in FOLDER/client connect to it for every address.
With a file FOLDER/impostor its host key differs from the user data's.
``python -m tests.standins.aws.image_machine look FOLDER`` prints images and their machines.
"""

from __future__ import annotations

import base64
import getpass
import json
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent
from ansible_collections.psap.perf.plugins.module_utils.provisioning.image_ssh import HostKey

from tests.standins.aws.moto_server import REGION, client, moto_server

_LONGEST_S = 2340
_TAGGED = [{"Name": "tag-key", "Values": ["psap.perf/image"]}]
_SFTP = "/usr/lib/openssh/sftp-server"
# the home of each login is the folder, not the home of the user who runs the tests
_SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
Subsystem sftp {sftp}
SetEnv PATH={folder}/bin:/usr/local/bin:/usr/bin:/bin
ForceCommand cd {folder}/home && eval "$SSH_ORIGINAL_COMMAND"
"""
_CLIENT = '#!/bin/sh\nexec {program} -o HostName=127.0.0.1 -o Port={port} "$@"\n'
UNITS = "disk/root/ostree/deploy/rhcos/deploy/0123abcd.0/etc/systemd/system"


def stand_ins(folder: Path) -> None:
    """Create a disk of CRC in *folder*, and the stand-ins for programs that need a disk."""
    (folder / UNITS).mkdir(parents=True)
    shutil.copytree(Path(__file__).parent / "programs", folder / "bin")


def repository(folder: Path) -> None:
    """Create a git repository with the required folder of SNC in *folder*; its branch is ``main``."""
    systemd = folder / "systemd"
    (systemd / "kubelet.service.d").mkdir(parents=True)
    for name in ("crc-test.sh", "crc-test.service", "kubelet.service.d/crc.conf", "notes.template"):
        (systemd / name).write_text(f"# {name}\n")
    git = ["git", "-C", str(folder), "-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "units")):
        subprocess.run([*git, *words], check=True)


def serve(folder: Path) -> None:
    """Serve until *folder*/aws.json is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    stand_ins(folder)
    repository(folder / "snc")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (folder / "client").mkdir()
    for name in ("ssh", "scp"):
        (folder / "client" / name).write_text(_CLIENT.format(program=shutil.which(name), port=port))
        (folder / "client" / name).chmod(0o755)
    (folder / "sshd_config").write_text(_SSHD.format(folder=folder, port=port, sftp=_SFTP))
    with moto_server() as endpoint:
        ec2 = client(endpoint, "ec2")
        ec2.import_key_pair(KeyName="molecule", PublicKeyMaterial=(folder / "key.pub").read_bytes())
        volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=8)["VolumeId"]
        facts = {
            "endpoint": endpoint,
            "region": REGION,
            "snapshot": ec2.create_snapshot(VolumeId=volume)["SnapshotId"],
            "machine_image": ec2.describe_images()["Images"][0]["ImageId"],
            "user": getpass.getuser(),
        }
        place = folder / "aws.json"
        place.write_text(json.dumps(facts), encoding="utf-8")
        _play(ec2, folder, place)


def _play(ec2: Any, folder: Path, place: Path) -> None:
    until, daemon, of = time.monotonic() + _LONGEST_S, None, ""
    while place.exists() and time.monotonic() < until:
        machine = _newest(ec2)
        if machine != of:
            if daemon is not None:
                daemon.terminate()
                daemon.wait()
            daemon, of = (_boot(ec2, folder, machine) if machine else None), machine
        time.sleep(0.2)
    if daemon is not None:
        daemon.terminate()
        daemon.wait()


def _newest(ec2: Any) -> str:
    """Return the machine with a disk, which the stand-in for lsblk then lists; empty if none has one."""
    return next((disk["Attachments"][0]["InstanceId"] for disk in _disks(ec2)), "")


def _disks(ec2: Any) -> list[dict[str, Any]]:
    found = ec2.describe_volumes(Filters=_TAGGED)["Volumes"]
    living = {each["InstanceId"] for each in _machines(ec2)}
    return [each for each in found if each["Attachments"] and each["Attachments"][0]["InstanceId"] in living]


def _machines(ec2: Any) -> list[dict[str, Any]]:
    found = ec2.describe_instances(Filters=_TAGGED)["Reservations"]
    every = [each for reservation in found for each in reservation["Instances"]]
    return [each for each in every if each["State"]["Name"] == "running"]


def _boot(ec2: Any, folder: Path, machine: str) -> subprocess.Popen[bytes]:
    given = ec2.describe_instance_attribute(InstanceId=machine, Attribute="userData")["UserData"]["Value"]
    key = folder / "host_key"
    its = yaml.safe_load(base64.b64decode(given))["ssh_keys"]["ed25519_private"]
    key.write_text(HostKey.new().private if (folder / "impostor").exists() else its)
    key.chmod(0o600)
    shutil.rmtree(folder / "home", ignore_errors=True)
    (folder / "home").mkdir()
    lines = [f"{folder}/disk {disk['VolumeId'].replace('-', '')}\n" for disk in _disks(ec2)]
    (folder / "disks").write_text("".join(lines))
    if getpass.getuser() == "root":
        # sshd's directory for privilege separation; nothing else uses it
        Path("/run/sshd").mkdir(exist_ok=True)
    command = [shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-f", str(folder / "sshd_config")]
    return subprocess.Popen([*command, "-E", str(folder / "sshd.log")], preexec_fn=die_with_parent)


def look(folder: Path) -> dict[str, Any]:
    """Return the account's images by name, and the IDs of all objects with the tag of an image's machine."""
    ec2 = client(json.loads((folder / "aws.json").read_text())["endpoint"], "ec2")
    return {
        "images": {each["Name"]: each["ImageId"] for each in ec2.describe_images(Owners=["self"])["Images"]},
        "machines": [each["InstanceId"] for each in _machines(ec2)],
        "volumes": [each["VolumeId"] for each in ec2.describe_volumes(Filters=_TAGGED)["Volumes"]],
        "groups": [each["GroupId"] for each in ec2.describe_security_groups(Filters=_TAGGED)["SecurityGroups"]],
        "snapshots": [
            each["SnapshotId"] for each in ec2.describe_snapshots(OwnerIds=["self"], Filters=_TAGGED)["Snapshots"]
        ],
    }


if __name__ == "__main__":
    place = Path(sys.argv[2]).absolute()
    if sys.argv[1] == "serve":
        packages = "openssh-server openssh-client git"
        subprocess.run(["sh", "tests/scripts/install_debian.sh", packages, "sshd", "ssh", "git"], check=True)
        serve(place)
    else:
        print(json.dumps(look(place)))
