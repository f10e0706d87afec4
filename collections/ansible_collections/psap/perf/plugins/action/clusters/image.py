# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    Interrupted,
    PerfError,
    UsageError,
)
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.clusters.aws import Amazon
from ansible_collections.psap.perf.plugins.module_utils.clusters.image_ssh import HostKey, Login, key_file
from ansible_collections.psap.perf.plugins.module_utils.clusters.image_worker import (
    ImageRequest,
    ImageWorker,
    Machine,
    Waits,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.modules.clusters.image import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.installing import aws_credentials
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

# in the home of the machine's user
_SCRIPTS = "psap-perf-image"
_ATTEMPT_S = 60.0
# what OpenSSH says where no later attempt could be better
_NOT_THE_MACHINE = ("Host key verification failed", "no matching host key type found")


class ActionModule(PerfAction):
    """Create an image from a disk that a script has changed."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Do it; in check mode look whether all is there that it needs."""
        args, timeout_s = context.args, seconds(context.args["timeout"])
        private_key, host_key = context.secret(args["private_key"]), HostKey.new()
        context.redactor.add(host_key.private)
        if "PRIVATE KEY" not in private_key:
            raise UsageError(f"{args['private_key']} is no private key of SSH")
        request = _request_of(context, host_key)
        with shown_wait(context.command_directory(), f"the image {args['name']}", timeout_s) as show:
            worker = _worker_of(context, Waits(timeout_s, context.check_interrupted, show))
            worker.check(request)
            if context.check_mode:
                return VerbResult(changed=True, values={"image": ""})
            known_hosts = context.directory / "src" / "known_hosts"
            known_hosts.parent.mkdir(parents=True, exist_ok=True)
            write_text(known_hosts, host_key.known_hosts())
            with _swept(worker), key_file(private_key) as key:
                machine = worker.start(request)
                login = Login(args["user"], machine.address, key, known_hosts.absolute())
                _change(context, login, machine, show)
                image = worker.replace(request.snapshot)
        return VerbResult(changed=True, values={"image": image})


def _worker_of(context: VerbContext, waits: Waits) -> ImageWorker:
    credentials = aws_credentials(context, context.args["credentials"])
    keys = Keys.parse(credentials) if credentials else None
    return ImageWorker(Amazon(context.args["region"], keys, context.args["endpoint"]), context.args["name"], waits)


def _request_of(context: VerbContext, host_key: HostKey) -> ImageRequest:
    args = context.args
    return ImageRequest(
        snapshot=args["snapshot"],
        zone=args["zone"],
        instance_type=args["instance_type"],
        machine_image=args["machine_image"],
        key_pair=args["key_pair"],
        ssh_from=args["ssh_source"],
        user_data=host_key.user_data(),
        spare_gib=args["spare_gib"],
    )


def _change(context: VerbContext, login: Login, machine: Machine, show: Callable[[str], None]) -> None:
    """Have the script change the disk, once the machine answers."""
    artifacts, timeout_s, check = (
        context.directory / "artifacts",
        seconds(context.args["timeout"]),
        context.check_interrupted,
    )

    def go(command: tuple[str, ...], log: str, longest_s: float) -> None:
        run(Program(command, context.directory, {}), artifacts / log, longest_s, check, show)

    def answers() -> tuple[bool, str]:
        try:
            go(login.run("true"), "connect.log", _ATTEMPT_S)
        except (Interrupted, UsageError):
            raise
        except PerfError as error:
            if any(words in str(error) for words in _NOT_THE_MACHINE):
                raise ClusterError(
                    f"what answers as {machine.address} is not the machine, or one without cloud-init: {error}"
                ) from error
            return False, str(error)
        return True, ""

    poll_until(answers, f"the machine {machine.address} did not answer", timeout_s, check, show)
    go(login.copy(Path(context.args["scripts"]), _SCRIPTS), "copy.log", timeout_s)
    script, *arguments = context.args["command"]
    words = ("sudo", "bash", f"{_SCRIPTS}/{script}", machine.disk, machine.spare, *arguments)
    go(login.run(*words), "script.log", timeout_s)


@contextlib.contextmanager
def _swept(worker: ImageWorker) -> Iterator[None]:
    """However the block ends, nothing is left in AWS; what could not be removed is said beside why it ended."""
    try:
        yield
    except PerfError as error:
        try:
            worker.sweep()
        except PerfError as left:
            error.args = (f"{error}; the next call removes what is left, since this one could not: {left}",)
        raise
    except BaseException:
        worker.sweep()
        raise
    worker.sweep()
