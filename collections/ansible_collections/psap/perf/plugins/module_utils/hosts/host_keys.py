"""A host whose SSH key is not the known one: what to do, in a sentence."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_REFUSED = re.compile(r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED", re.IGNORECASE)
_CHANGED = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED", re.IGNORECASE)
_OFFENDING = re.compile(r"Offending .*key in (?P<file>.+):\d+")


@dataclass(frozen=True, slots=True)
class SshTarget:
    """Where ssh goes, by what ``ssh -G`` says: *name* is what the key stands under in its *files*."""

    name: str
    files: tuple[str, ...]

    @classmethod
    def from_configuration(cls, said: str) -> SshTarget:
        """Of the output of ``ssh -G``."""
        fields = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
        host = fields.get("hostkeyalias") or fields.get("hostname", "")
        port = fields.get("port", "22")
        name = host if port == "22" or "hostkeyalias" in fields else f"[{host}]:{port}"
        return cls(name, tuple(shlex.split(fields.get("userknownhostsfile", ""))))


def is_refused_key(said: str) -> bool:
    """Whether ssh said that it does not trust the host's key."""
    return _REFUSED.search(said) is not None


def advice(said: str, target: SshTarget) -> str:
    """What to do about a key that ssh refused, of what it said; its known_hosts and the name of the key are in it."""
    name = shlex.quote(target.name)
    file = target.files[0] if target.files else "~/.ssh/known_hosts"
    if _CHANGED.search(said):
        offending = _OFFENDING.search(said)
        file = offending["file"] if offending else file
        return (
            f"its host key is not the one of {target.name} in {file}; find out why it changed, and if it may have, "
            f"remove the former one (ssh-keygen -R {name} -f {shlex.quote(file)}) and add the new one there"
        )
    host, _colon, port = target.name.rpartition(":") if target.name.startswith("[") else (target.name, "", "22")
    scan = f"ssh-keyscan -p {port} {shlex.quote(host.strip('[]'))}"
    return (
        f"its host key is not known: {target.name} is not in {file}; add the key there, such as with {scan}, "
        "after comparing it with /etc/ssh/ssh_host_*_key.pub of the host"
    )
