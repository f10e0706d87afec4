"""Advice for a host whose SSH key is unknown or has changed."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_REFUSED = re.compile(r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED", re.IGNORECASE)
_CHANGED = re.compile(r"REMOTE HOST IDENTIFICATION HAS CHANGED", re.IGNORECASE)
_OFFENDING = re.compile(r"Offending .*key in (?P<file>.+):\d+")


@dataclass(frozen=True, slots=True)
class SshTarget:
    """The target of ssh: the *name* of its key in the known-hosts *files*."""

    name: str
    files: tuple[str, ...]

    @classmethod
    def from_configuration(cls, output: str) -> SshTarget:
        """Return the target in the *output* of ``ssh -G``."""
        fields = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
        host = fields.get("hostkeyalias") or fields.get("hostname", "")
        port = fields.get("port", "22")
        name = host if port == "22" or "hostkeyalias" in fields else f"[{host}]:{port}"
        return cls(name, tuple(shlex.split(fields.get("userknownhostsfile", ""))))


def is_refused_key(error: str) -> bool:
    """Return whether an *error* of ssh is a refused host key."""
    return _REFUSED.search(error) is not None


def advice(error: str, target: SshTarget) -> str:
    """Return the cause of an *error* of ssh about a refused host key, and what to do."""
    name = shlex.quote(target.name)
    file = target.files[0] if target.files else "~/.ssh/known_hosts"
    if _CHANGED.search(error):
        offending = _OFFENDING.search(error)
        file = offending["file"] if offending else file
        return (
            f"its host key differs from the key of {target.name} in {file}; find out why it changed, and if the change "
            f"is valid, remove the old key (ssh-keygen -R {name} -f {shlex.quote(file)}) and add the new one"
        )
    host, _colon, port = target.name.rpartition(":") if target.name.startswith("[") else (target.name, "", "22")
    scan = f"ssh-keyscan -p {port} {shlex.quote(host.strip('[]'))}"
    return (
        f"its host key is unknown: {target.name} is not in {file}; compare the key with "
        f"/etc/ssh/ssh_host_*_key.pub of the host, and add it, for example with {scan}"
    )
