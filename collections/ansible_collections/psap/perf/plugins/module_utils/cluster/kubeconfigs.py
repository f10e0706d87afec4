"""The files of a kubeconfig, and the address in it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError


def kubeconfig_files(named: str) -> list[Path]:
    """The files to read: a list in one text, as KUBECONFIG has it, is one configuration in several files.

    Those of several that are missing are left out, as kubectl does.

    :raises ClusterError: when none is there.
    """
    paths = [Path(text).expanduser() for text in named.split(os.pathsep) if text]
    found = [path for path in paths if path.exists()]
    if not found:
        raise ClusterError(f"the kubeconfig {named} does not exist; start the lab, or set perf_kubeconfig")
    return found


def checked_server(address: str) -> str:
    """*address*, in which no user name and no password may stand: it is written into logs and artifacts.

    :raises ClusterError: when one does; it shows neither.
    """
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address
    where = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    raise ClusterError(
        f"the address of the cluster at {where} has a user name or a password in it, which Kubernetes does not take; "
        "remove them from the server's URL, and give a token or a client certificate to the kubeconfig's user"
    )
