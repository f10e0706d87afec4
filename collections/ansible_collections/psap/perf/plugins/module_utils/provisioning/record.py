"""What a run knows of a cluster that it creates, written before the first call: by this alone it can be destroyed.

A record is ``clusters/HOST.json`` of the run directory, mode 0600, without any secret. The kubeconfig, and what else is
one, stands in the *folder* of the cluster, mode 0700, outside the run directory, since that is exported and passed on.
"""

from __future__ import annotations

import contextlib
import datetime
import getpass
import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, json_text, read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError

FOLDER = "clusters"
SCHEMA = "psap.perf/cluster-record/1"
METHODS = ("hive", "ocp", "osd")
CREATING, CREATED, DESTROYED = "creating", "created", "destroyed"
KUBECONFIG = "kubeconfig"
# of a label, which the name becomes in DNS names and in names of objects
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?")
_HOST = re.compile(r"[\w.-]{1,63}")


@dataclass(frozen=True, slots=True)
class Password:
    """Where the password of the cluster's administrator stands; never the password.

    :param file: a file with it, in the cluster's folder.
    :param secret: ``NAMESPACE/NAME`` of a Secret of the cluster that made this one, with it under *key*.
    """

    user: str = "kubeadmin"
    file: str = ""
    secret: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """A cluster that a run created, or was creating.

    :param host: the inventory host whose cluster it is, such as ``sutest`` or ``driver``.
    :param method: how it is created; also the end of the names of the roles that create and destroy it.
    :param name: of the cluster, unique for the run and the host.
    :param phase: ``creating`` from before the first call to after the last, then ``created``, then ``destroyed``.
    :param created: when it was noted; *expires* is so much later as *time_to_live* says.
    :param folder: of the cluster's own files, outside the run directory.
    :param kubeconfig: path, in the folder; empty until there is one.
    :param keep: whether its creator wants it to stay after the run; one that is still ``creating`` never does.
    :param destruction: what the method needs to destroy it, without the settings of the run.
    :param secrets: references (``file:NAME`` …) of the secrets that this needs.
    """

    host: str
    method: str
    name: str
    run: str
    owner: str
    created: str
    time_to_live: str
    expires: str
    folder: str
    phase: str = CREATING
    tags: dict[str, str] = field(default_factory=dict)
    keep: bool = False
    kubeconfig: str = ""
    api: str = ""
    console: str = ""
    password: Password = field(default_factory=Password)
    destruction: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        """Whether no flow destroys it."""
        return self.keep and self.phase == CREATED

    def document(self) -> dict[str, Any]:
        """As it is written."""
        return {"schema": SCHEMA, **asdict(self)}


def new_record(
    run: str,
    host: str,
    method: str,
    *,
    name: str = "",
    prefix: str = "perf",
    owner: str = "",
    time_to_live: str = "12h",
    tags: Mapping[str, str] | None = None,
    folder: str = "",
    now: datetime.datetime | None = None,
) -> ClusterRecord:
    """The record of a cluster that is not begun yet.

    :param name: made of the prefix, the host and the run when it is empty, so that a run finds its own again.
    :param folder: below which its own folder is.
    :raises UsageError: for what no cluster can have.
    """
    if method not in METHODS:
        raise UsageError(f"{method!r} is not a way to create a cluster; there are {', '.join(METHODS)}")
    if not _HOST.fullmatch(host):
        raise UsageError(f"{host!r} is not a valid name of a host of the inventory")
    name = name or default_name(run, host, prefix)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"invalid cluster name {name!r}: use at most 54 lower-case letters, digits and -, with no - at the ends"
        )
    lifetime = seconds(time_to_live)
    if not lifetime:
        raise UsageError("a cluster that is created has a time to live, such as 12h; 0 is none")
    now = now or datetime.datetime.now(datetime.UTC)
    return ClusterRecord(
        host=host,
        method=method,
        name=name,
        run=run,
        owner=owner or _user(),
        created=utc_text(now),
        time_to_live=str(time_to_live),
        expires=utc_text(now + datetime.timedelta(seconds=lifetime)),
        folder=str(((Path(folder).expanduser() if folder else default_folder()) / run / host).absolute()),
        tags={str(key): str(value) for key, value in (tags or {}).items()},
    )


def default_name(run: str, host: str, prefix: str = "perf") -> str:
    """The name of a run's cluster, for example ``perf-sutest-1f0c9a``; installers cut after 21 characters."""
    return f"{prefix}-{host}-{hashlib.sha256(run.encode()).hexdigest()[:6]}"


def default_folder() -> Path:
    """Where clusters have their folders: below PERF_CLUSTERS_DIR, else XDG_STATE_HOME, else ``~/.local/state``."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get("PERF_CLUSTERS_DIR") or state / "psap-perf" / "clusters")


def record_path(run: Path, host: str) -> Path:
    """Where the record of a host's cluster is."""
    return run / FOLDER / f"{host}.json"


def read_record(path: Path) -> ClusterRecord | None:
    """The record, or None where there is none.

    :raises PerfError: when it cannot be read.
    """
    if not path.exists():
        return None
    document = read_json(path)
    known = {name: document[name] for name in ClusterRecord.__dataclass_fields__ if name in document}
    password = document.get("password") or {}
    named = {name: password[name] for name in Password.__dataclass_fields__ if name in password}
    try:
        return ClusterRecord(**{**known, "password": Password(**named)})
    except TypeError as error:
        raise PerfError(f"{path} is not the record of a cluster: {error}") from error


def read_records(run: Path) -> list[ClusterRecord]:
    """All records of a run."""
    found = (read_record(path) for path in sorted((run / FOLDER).glob("*.json")))
    return [record for record in found if record is not None]


def write_record(path: Path, record: ClusterRecord) -> None:
    """Write it, whole or not at all, for its owner alone; the folder that it names is there afterwards.

    :raises PerfError: when the disk is full or a folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if record.phase != DESTROYED:
            Path(record.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, json_text(record.document()))
    except OSError as error:
        raise PerfError(f"cannot note the cluster in {path}: {error}; free space or choose another folder") from error


def write_private(path: Path, text: str) -> None:
    """Write *text*, which may be a secret, to a file that only its owner reads, whole or not at all."""
    with completing(path) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)


class Journal:
    """The record of a cluster, and where each step is noted."""

    def __init__(self, path: Path, record: ClusterRecord) -> None:
        self.path, self.record = path, record

    def note(self, **changes: Any) -> bool:
        """Note what is about to be done, or was; whether this was new."""
        changed = replace(self.record, **changes)
        # what is there may be the record of a cluster that was destroyed before this one
        if changed == self.record and changed == read_record(self.path):
            return False
        self.record = changed
        write_record(self.path, changed)
        return True

    def forget(self) -> bool:
        """The cluster is gone: note it, and remove its folder with what was secret; whether this was new."""
        changed = self.note(phase=DESTROYED)
        folder = Path(self.record.folder)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            # that of the run, when this was its last cluster
            folder.parent.rmdir()
        return changed


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # a container's user need not have a name
        return str(os.getuid())
