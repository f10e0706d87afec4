# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import hashlib
import tempfile
from contextlib import suppress
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
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_MODULE = "psap.perf.hosts.archive"


class ActionModule(HostAction):
    """Copy files as one archive."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """What goes where."""
        return f"would copy {context.args['path']} into {context.args['dest']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Note the directory of the archive, copy, and remove it whatever happens."""
        if self.becomes:
            raise UsageError("files are copied as the user of the connection: leave become out")
        if context.args["push"] and context.args["move"]:
            raise UsageError("what is copied to the host stays here: leave move out")
        push, work = context.args["push"], context.args["work_directory"]
        key = hashlib.sha256(f"{context.directory} {context.args['path']}".encode()).hexdigest()[:12]
        directory = f"{work}/psap.perf/copy-{key}"
        records.begin(context.directory, records.HostWork(self.host_of(context), False, directory, {}, ()))
        removal = {"state": "absent", "directory": directory}
        try:
            copied = self._push(context, directory) if push else self._pull(context, directory)
            if copied and context.args["move"]:
                removal["path"] = context.args["path"]
        except (ArchiveError, OSError) as error:
            still = "" if push else f"; it is still on {self.host_of(context)}"
            raise HostError(f"cannot copy {context.args['path']}: {error}{still}") from error
        finally:
            # where it fails, sweeping removes the archive
            with suppress(HostError):
                self.on_host(context, _MODULE, removal)
                records.end(context.directory)
        files, content_bytes = (copied.files, copied.content_bytes) if copied else (0, 0)
        return VerbResult(changed=push or "path" in removal, values={"files": files, "content_bytes": content_bytes})

    def _pull(self, context: VerbContext, directory: str) -> Packed | None:
        path, required = context.args["path"], context.args["required"]
        asked = {"state": "packed", "directory": directory, "path": path, "required": required}
        answer = self.on_host(context, _MODULE, {**asked, "most_bytes": context.args["most_mib"] << 20})
        if "packed" not in answer:
            return None
        packed = Packed(**answer["packed"])
        with tempfile.TemporaryDirectory(prefix="psap-perf-") as temporary:
            local = Path(temporary, "archive")
            self._transferred(context, packed.archive, local, push=False)
            if digest(local) != packed.sha256:
                raise ArchiveError("it was changed or cut off on its way")
            unpack(local, context.directory / "artifacts" / context.args["dest"])
        return packed

    def _push(self, context: VerbContext, directory: str) -> Packed:
        with tempfile.TemporaryDirectory(prefix="psap-perf-") as temporary:
            local = Path(temporary, "archive")
            packed = pack(Path(context.args["path"]).expanduser(), local, context.args["most_mib"] << 20)
            self.on_host(context, _MODULE, {"state": "present", "directory": directory})
            self._transferred(context, f"{directory}/archive", local, push=True)
        unpacked = {"state": "unpacked", "directory": directory, "path": context.args["dest"]}
        self.on_host(context, _MODULE, unpacked)
        return packed

    def _transferred(self, context: VerbContext, there: str, here: Path, *, push: bool) -> None:
        try:
            if push:
                self._connection.put_file(str(here), there)
            else:
                self._connection.fetch_file(there, str(here))
        except AnsibleError as error:
            raise HostError(f"host {self.host_of(context)}: {error}") from error
