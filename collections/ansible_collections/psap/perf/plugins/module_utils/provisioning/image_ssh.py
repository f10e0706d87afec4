"""SSH to a machine of AWS that has just started: its host key is known before, since it is told which one is its.

cloud-init, which images of Fedora and of most others have, takes the key from the user data of the machine. Whoever may
read these (``ec2:DescribeInstanceAttribute``, and the machine itself) has the key of a machine that lives for minutes.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

# what stands for its address, which another machine may have had before
_ALIAS = "psap-perf-image-worker"
# a machine that nobody ends any more ends itself
_LAST_RESORT = ["shutdown", "-h", "+180"]
_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "GlobalKnownHostsFile": "/dev/null",
    "HostKeyAlgorithms": "ssh-ed25519",
    "HostKeyAlias": _ALIAS,
    "IdentitiesOnly": "yes",
    "ServerAliveCountMax": "4",
    "ServerAliveInterval": "15",
    "StrictHostKeyChecking": "yes",
    "UpdateHostKeys": "no",
}


@dataclass(frozen=True, slots=True)
class HostKey:
    """A key of a machine, as OpenSSH writes its two halves."""

    private: str
    public: str

    @classmethod
    def new(cls) -> HostKey:
        """One that no other machine has."""
        key = Ed25519PrivateKey.generate()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        return cls(private.decode(), key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode())

    def user_data(self) -> str:
        """What tells a machine that this is its key, and to end itself after three hours."""
        keys = {"ed25519_private": self.private, "ed25519_public": self.public}
        return "#cloud-config\n" + yaml.safe_dump({"ssh_keys": keys, "runcmd": [_LAST_RESORT]})

    def known_hosts(self) -> str:
        """The line of a ``known_hosts``."""
        return f"{_ALIAS} {self.public}\n"


@dataclass(frozen=True, slots=True)
class Login:
    """Command lines to reach the machine.

    :param key: file with the private key of *user*.
    :param known_hosts: file with the only key that the machine may have.
    """

    user: str
    address: str
    key: Path
    known_hosts: Path

    def run(self, *words: str) -> tuple[str, ...]:
        """Have it run a program."""
        return ("ssh", *self._options(), f"{self.user}@{self.address}", shlex.join(words))

    def copy(self, folder: Path, name: str) -> tuple[str, ...]:
        """Copy a folder to it, as *name* in the home of the user."""
        return ("scp", "-r", "-q", *self._options(), str(folder), f"{self.user}@{self.address}:{name}")

    def _options(self) -> tuple[str, ...]:
        given = {**_OPTIONS, "IdentityFile": _quoted(self.key), "UserKnownHostsFile": _quoted(self.known_hosts)}
        return tuple(word for name, value in given.items() for word in ("-o", f"{name}={value}"))


@contextlib.contextmanager
def key_file(text: str) -> Iterator[Path]:
    """A file with a private key for programs that this process starts; it is in memory, and goes with the process."""
    number = os.memfd_create("private-key")
    try:
        os.fchmod(number, 0o600)
        os.write(number, f"{text.strip()}\n".encode())
        yield Path(f"/proc/{os.getpid()}/fd/{number}")
    finally:
        os.close(number)


def _quoted(path: Path) -> str:
    return f'"{path}"'
