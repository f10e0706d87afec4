"""Records of the clusters that a run creates, written before the first request, which suffice to destroy them.

A record is ``clusters/HOST.json`` of the run directory, mode 0600, without secrets. The kubeconfig and other secrets
are in the *folder* of the cluster, mode 0700, outside the run directory, since that is exported and shared.
"""

from __future__ import annotations

import contextlib
import datetime
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
from ansible_collections.psap.perf.plugins.module_utils.base.processes import user_name

FOLDER = "clusters"
SCHEMA = "psap.perf/cluster-record/1"
METHODS = ("hive", "ocp", "osd")
CREATING, CREATED, DESTROYED = "creating", "created", "destroyed"
KUBECONFIG = "kubeconfig"
# the name is a label in DNS names, and part of names of objects
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?")
_HOST = re.compile(r"[\w.-]{1,63}")


@dataclass(frozen=True, slots=True)
class Password:
    """The location of the password of the cluster's administrator; never the password.

    Args:
        file: A file in the cluster's folder.
        secret: ``NAMESPACE/NAME`` of a Secret in the cluster that created this one, with the password under *key*.
    """

    user: str = "kubeadmin"
    file: str = ""
    secret: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """A cluster that a run created, or was creating.

    Args:
        host: The inventory host whose cluster it is, such as ``sutest`` or ``driver``.
        method: Method of creation; also the suffix of the roles that create and destroy it.
        name: Name of the cluster, unique for the run and the host.
        phase: ``creating`` from before the first request to after the last, then ``created``, then ``destroyed``.
        created: When the record was created; *expires* is *time_to_live* later.
        folder: Folder of the cluster's files, outside the run directory.
        kubeconfig: Path in the folder; empty until it exists.
        keep: The cluster stays after the run, unless it is still ``creating``.
        destruction: Data that the method needs to destroy it, without the settings of the run.
        secrets: References (``file:NAME`` …) to the secrets that the destruction needs.
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
        """Return whether flows do not destroy it."""
        return self.keep and self.phase == CREATED

    @property
    def mark(self) -> str:
        """Return the text that distinguishes its objects from those of other runs."""
        return f"{self.run}/{self.host}"

    def document(self) -> dict[str, Any]:
        """Return the document that is written."""
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
    """Return the record of a cluster whose creation has not begun yet.

    Args:
        name: Empty for a name of the prefix, the host and the run, by which the run finds its cluster again.
        folder: Parent of the cluster's folder.

    Raises:
        UsageError: If a value is invalid.
    """
    if method not in METHODS:
        raise UsageError(f"unknown method {method!r} to create a cluster; known: {', '.join(METHODS)}")
    if not _HOST.fullmatch(host):
        raise UsageError(f"{host!r} is not a valid name of a host of the inventory")
    name = name or default_name(run, host, prefix)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"invalid cluster name {name!r}: use at most 54 lower-case letters, digits and -, with no - at the ends"
        )
    lifetime = seconds(time_to_live)
    if not lifetime:
        raise UsageError("the time to live of a created cluster must not be 0; set it to a time such as 12h")
    now = now or datetime.datetime.now(datetime.UTC)
    return ClusterRecord(
        host=host,
        method=method,
        name=name,
        run=run,
        owner=owner or user_name(),
        created=utc_text(now),
        time_to_live=str(time_to_live),
        expires=utc_text(now + datetime.timedelta(seconds=lifetime)),
        folder=str(((Path(folder).expanduser() if folder else default_folder()) / run / host).absolute()),
        tags={str(key): str(value) for key, value in (tags or {}).items()},
    )


def default_name(run: str, host: str, prefix: str = "perf") -> str:
    """Return the name of a run's cluster, for example ``perf-sutest-1f0c9a``; installers truncate to 21 characters."""
    return f"{prefix}-{host}-{hashlib.sha256(run.encode()).hexdigest()[:6]}"


def default_folder() -> Path:
    """Return the parent of clusters' folders: in PERF_CLUSTERS_DIR, else XDG_STATE_HOME, else ``~/.local/state``."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(os.environ.get("PERF_CLUSTERS_DIR") or state / "psap-perf" / "clusters")


def record_path(run: Path, host: str) -> Path:
    """Return the path of the record of a host's cluster."""
    return run / FOLDER / f"{host}.json"


def read_record(path: Path) -> ClusterRecord | None:
    """Return the record; None if it is missing.

    Raises:
        PerfError: If it cannot be read.
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
    """Return all records of a run."""
    found = (read_record(path) for path in sorted((run / FOLDER).glob("*.json")))
    return [record for record in found if record is not None]


def write_record(path: Path, record: ClusterRecord) -> None:
    """Write a record atomically, readable by its owner only, and create the folder that it names.

    Raises:
        PerfError: If the disk is full or a folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if record.phase != DESTROYED:
            Path(record.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, json_text(record.document()))
    except OSError as error:
        raise PerfError(f"cannot record the cluster in {path}: {error}; free space or choose another folder") from error


def write_private(path: Path, text: str) -> None:
    """Write *text*, which may be a secret, atomically to a file that only its owner can read."""
    with completing(path) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(descriptor)


class Journal:
    """The record of a cluster, written at each step."""

    def __init__(self, path: Path, record: ClusterRecord) -> None:
        self.path, self.record = path, record

    def note(self, **changes: Any) -> bool:
        """Record changed fields, and return whether any differs."""
        changed = replace(self.record, **changes)
        # the file may be the record of a cluster that was destroyed before this one
        if changed == self.record and changed == read_record(self.path):
            return False
        self.record = changed
        write_record(self.path, changed)
        return True

    def forget(self) -> bool:
        """Record the cluster as destroyed, remove its folder with its secrets, and return whether this was new."""
        changed = self.note(phase=DESTROYED)
        folder = Path(self.record.folder)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            # the run's folder, after its last cluster
            folder.parent.rmdir()
        return changed
