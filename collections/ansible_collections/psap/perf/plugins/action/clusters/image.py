# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    Interrupted,
    PerfError,
    UsageError,
)
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.provisioning.aws import Amazon
from ansible_collections.psap.perf.plugins.module_utils.provisioning.image_ssh import HostKey, Login, key_file
from ansible_collections.psap.perf.plugins.module_utils.provisioning.image_worker import (
    ImageRequest,
    ImageWorker,
    Machine,
    Waits,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.modules.clusters.image import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.installing import aws_keys
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

# in the home of the machine's user
_SCRIPTS = "psap-perf-image"
_ATTEMPT_S = 60.0
# errors of OpenSSH after which a retry cannot succeed
_NOT_THE_MACHINE = ("Host key verification failed", "no matching host key type found")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of the command, and the first three, which its task passes."""

    scripts: str
    command: tuple[str, ...]
    spare_gib: int
    new_ami_name: str
    source_snapshot_id: str
    key_pair_name: str
    private_key: str
    ami_image_user: str
    ssh_source: str
    aws_region: str
    aws_availability_zone: str
    worker_instance_type: str
    worker_ami_id: str
    credentials: str
    endpoint: str
    timeout: Seconds


class ActionModule(CommandAction):
    """Create an image from a disk that a script has changed."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Create the image; in check mode, check that AWS has what this needs."""
        args = context.arguments(Arguments)
        private_key, host_key = context.secret(args.private_key), HostKey.new()
        context.redactor.add(host_key.private)
        if "PRIVATE KEY" not in private_key:
            raise UsageError(f"{args.private_key} is not a private key of SSH")
        request = _request_of(args, host_key)
        with shown_wait(context.command_directory(), f"the image {args.new_ami_name}", args.timeout) as show:
            worker = _worker_of(context, args, Waits(args.timeout, context.check_interrupted, show))
            worker.check(request)
            if context.check_mode:
                return VerbResult(changed=True, values={"image": ""})
            known_hosts = context.directory / "src" / "known_hosts"
            known_hosts.parent.mkdir(parents=True, exist_ok=True)
            write_text(known_hosts, host_key.known_hosts())
            with _cleanup_after(worker), key_file(private_key) as key:
                machine = worker.start(request)
                login = Login(args.ami_image_user, machine.address, key, known_hosts.absolute())
                _change(context, args, login, machine, show)
                image = worker.replace(request.snapshot)
        return VerbResult(changed=True, values={"image": image})


def _worker_of(context: VerbContext, args: Arguments, waits: Waits) -> ImageWorker:
    keys = aws_keys(context, args.credentials)
    return ImageWorker(Amazon(args.aws_region, keys, args.endpoint), args.new_ami_name, waits)


def _request_of(args: Arguments, host_key: HostKey) -> ImageRequest:
    return ImageRequest(
        snapshot=args.source_snapshot_id,
        zone=args.aws_availability_zone,
        instance_type=args.worker_instance_type,
        machine_image=args.worker_ami_id,
        key_pair=args.key_pair_name,
        ssh_from=args.ssh_source,
        user_data=host_key.user_data(),
        spare_gib=args.spare_gib,
    )


def _change(context: VerbContext, args: Arguments, login: Login, machine: Machine, show: Callable[[str], None]) -> None:
    """Run the script that changes the disk, after the machine answers."""
    artifacts, check = context.directory / "artifacts", context.check_interrupted

    def execute(command: tuple[str, ...], log: str, longest_s: float) -> None:
        run(Program(command, context.directory, {}), artifacts / log, longest_s, check, show)

    def answers() -> tuple[bool, str]:
        try:
            execute(login.run("true"), "connect.log", _ATTEMPT_S)
        except (Interrupted, UsageError):
            raise
        except PerfError as error:
            if any(words in str(error) for words in _NOT_THE_MACHINE):
                raise ClusterError(
                    f"{machine.address} is another machine, or its image does not have cloud-init: {error}"
                ) from error
            return False, str(error)
        return True, ""

    poll_until(answers, f"the machine {machine.address} did not answer", args.timeout, check, show)
    execute(login.copy(Path(args.scripts), _SCRIPTS), "copy.log", args.timeout)
    script, *arguments = args.command
    words = ("sudo", "bash", f"{_SCRIPTS}/{script}", machine.disk, machine.spare, *arguments)
    execute(login.run(*words), "script.log", args.timeout)


@contextlib.contextmanager
def _cleanup_after(worker: ImageWorker) -> Iterator[None]:
    """Remove everything from AWS after the block; an error names what could not be removed, too."""
    try:
        yield
    except PerfError as error:
        try:
            worker.remove()
        except PerfError as left:
            error.args = (f"{error}; the cleanup failed too, and the next call repeats it: {left}",)
        raise
    except BaseException:
        worker.remove()
        raise
    worker.remove()
