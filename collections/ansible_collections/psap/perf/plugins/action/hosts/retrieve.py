# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import hashlib
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ansible.errors import AnsibleError
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.hosts import records
from ansible_collections.psap.perf.plugins.module_utils.hosts.archives import (
    ArchiveError,
    Packed,
    digest,
    pack,
    unpack,
)
from ansible_collections.psap.perf.plugins.modules.hosts.retrieve import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult

_MODULE = "psap.perf.hosts.archive"


@dataclass(frozen=True, slots=True)
class Arguments:
    path: str
    dest: str
    push: bool
    move: bool
    required: bool
    work_directory: str
    most_mib: int

    @property
    def most_bytes(self) -> int:
        """Return the maximum size of a copy in bytes."""
        return self.most_mib << 20


class ActionModule(HostAction):
    """Copy files as one archive."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what would be copied, and where to."""
        args = context.arguments(Arguments)
        return f"would copy {args.path} into {args.dest}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Record the directory of the archive, copy, and remove the directory in any case."""
        args = context.arguments(Arguments)
        if self.becomes:
            raise UsageError("files are copied as the user of the connection; remove become")
        if args.push and args.move:
            raise UsageError("move only works without push; remove one of them")
        key = hashlib.sha256(f"{context.directory} {args.path}".encode()).hexdigest()[:12]
        directory = f"{args.work_directory}/psap.perf/copy-{key}"
        records.begin(context.directory, records.HostWork(self.host_of(context), False, directory, {}, ()))
        removal = {"state": "absent", "directory": directory}
        try:
            copied = self._push(context, args, directory) if args.push else self._pull(context, args, directory)
            if copied and args.move:
                removal["path"] = args.path
        except (ArchiveError, OSError) as error:
            still = "" if args.push else f"; it is still on {self.host_of(context)}"
            raise HostError(f"cannot copy {args.path}: {error}{still}") from error
        finally:
            # if this fails, psap.perf.hosts.undo removes the archive
            with suppress(HostError):
                self.on_host(context, _MODULE, removal)
                records.end(context.directory)
        files, content_bytes = (copied.files, copied.content_bytes) if copied else (0, 0)
        return VerbResult(
            changed=args.push or "path" in removal, values={"files": files, "content_bytes": content_bytes}
        )

    def _pull(self, context: VerbContext, args: Arguments, directory: str) -> Packed | None:
        request = {"state": "packed", "directory": directory, "path": args.path, "required": args.required}
        answer = self.on_host(context, _MODULE, {**request, "most_bytes": args.most_bytes})
        if "packed" not in answer:
            return None
        packed = Packed(**answer["packed"])
        with tempfile.TemporaryDirectory(prefix="psap-perf-") as temporary:
            local = Path(temporary, "archive")
            self._transfer(context, packed.archive, local, push=False)
            if digest(local) != packed.sha256:
                raise ArchiveError("the transfer changed or truncated it")
            unpack(local, context.directory / "artifacts" / args.dest)
        return packed

    def _push(self, context: VerbContext, args: Arguments, directory: str) -> Packed:
        with tempfile.TemporaryDirectory(prefix="psap-perf-") as temporary:
            local = Path(temporary, "archive")
            packed = pack(Path(args.path).expanduser(), local, args.most_bytes)
            self.on_host(context, _MODULE, {"state": "present", "directory": directory})
            self._transfer(context, f"{directory}/archive", local, push=True)
        unpacked = {"state": "unpacked", "directory": directory, "path": args.dest}
        self.on_host(context, _MODULE, unpacked)
        return packed

    def _transfer(self, context: VerbContext, there: str, here: Path, *, push: bool) -> None:
        try:
            if push:
                self._connection.put_file(str(here), there)
            else:
                self._connection.fetch_file(there, str(here))
        except AnsibleError as error:
            raise HostError(f"host {self.host_of(context)}: {error}") from error
