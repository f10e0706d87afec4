"""SSH to a new machine of AWS, whose host key is generated here and passed in its user data.

cloud-init, which images of Fedora and most others contain, reads the key from the user data of the machine. Users who
can read these (``ec2:DescribeInstanceAttribute``) have the key of a machine that exists for minutes.
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

# replaces its address, which another machine may have had before
_ALIAS = "psap-perf-image-worker"
# a machine ends by itself if its controller was killed
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
    """A private and a public key of a machine, in the format of OpenSSH."""

    private: str
    public: str

    @classmethod
    def new(cls) -> HostKey:
        """Return a new key."""
        key = Ed25519PrivateKey.generate()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        return cls(private.decode(), key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode())

    def user_data(self) -> str:
        """Return user data that set this key, and end the machine after three hours."""
        keys = {"ed25519_private": self.private, "ed25519_public": self.public}
        return "#cloud-config\n" + yaml.safe_dump({"ssh_keys": keys, "runcmd": [_LAST_RESORT]})

    def known_hosts(self) -> str:
        """Return the line of a ``known_hosts`` file."""
        return f"{_ALIAS} {self.public}\n"


@dataclass(frozen=True, slots=True)
class Login:
    """Command lines to reach the machine.

    Args:
        key: File with the private key of *user*.
        known_hosts: File with the only valid key of the machine.
    """

    user: str
    address: str
    key: Path
    known_hosts: Path

    def run(self, *words: str) -> tuple[str, ...]:
        """Return the command line that runs a program there."""
        return ("ssh", *self._options(), f"{self.user}@{self.address}", shlex.join(words))

    def copy(self, folder: Path, name: str) -> tuple[str, ...]:
        """Return the command line that copies a folder to *name* in the home of the user."""
        return ("scp", "-r", "-q", *self._options(), str(folder), f"{self.user}@{self.address}:{name}")

    def _options(self) -> tuple[str, ...]:
        given = {**_OPTIONS, "IdentityFile": _quote(self.key), "UserKnownHostsFile": _quote(self.known_hosts)}
        return tuple(word for name, value in given.items() for word in ("-o", f"{name}={value}"))


@contextlib.contextmanager
def key_file(text: str) -> Iterator[Path]:
    """Yield a file in memory with a private key, for programs that this process starts."""
    number = os.memfd_create("private-key")
    try:
        os.fchmod(number, 0o600)
        os.write(number, f"{text.strip()}\n".encode())
        yield Path(f"/proc/{os.getpid()}/fd/{number}")
    finally:
        os.close(number)


def _quote(path: Path) -> str:
    return f'"{path}"'
