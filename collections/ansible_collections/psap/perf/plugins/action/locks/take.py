# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lock import LockRequest, lock
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import read_lock
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import LockHeldError
from ansible_collections.psap.perf.plugins.modules.locks.take import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.leases import has_lease, show_wait
from ansible_collections.psap.perf.plugins.plugin_utils.locks import LockAction, LockArguments, requester
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult

# After a kill, the driver makes no more calls: its place in the queue expires, and at most one call takes the lock.
_CALL_S = 8.0
_AGAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Arguments(LockArguments):
    what: str
    duration: Seconds
    timeout: Seconds


class ActionModule(LockAction):
    """Lock for an owner."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait until the owner has the lock."""
        args = context.arguments(Arguments)
        duration_s = round(args.duration)
        if not args.owner or duration_s < 1:
            raise UsageError("a lock needs an owner, and a duration of a second or more")
        if args.folder:
            return self._lock_host(context, args)
        if context.check_mode:
            locked = read_lock(context.cluster())
            return VerbResult(changed=True, values={"lock": str(locked or "")})
        request = LockRequest(requester(context), args.owner, args.what, duration_s)
        locked = lock(
            context.cluster(), request, args.timeout, context.check_interrupted, show_wait, has_lease=has_lease(context)
        )
        return VerbResult(changed=True, values={"lock": str(locked)})

    def _lock_host(self, context: VerbContext, args: Arguments) -> VerbResult:
        """Wait on the host for some seconds at a time, so that a killed driver loses its place in the queue."""
        holder, until, shown = requester(context), time.monotonic() + args.timeout, ""
        who = {
            "owner": args.owner,
            "run": holder.run,
            "what": args.what,
            "user": holder.user,
            "host": holder.host,
        }
        try:
            while True:
                left_s = max(0.0, until - time.monotonic())
                # The first call does not wait. After its answer, a dropped connection is no error.
                call_s = min(left_s, _CALL_S) if shown else 0.0
                request = {"state": "present", "who": who, "duration_s": round(args.duration), "wait_s": call_s}
                found = self._call(context, shown, left_s, {**request, "stays": left_s > call_s})
                if found and (found["locked"] or context.check_mode):
                    return VerbResult(changed=bool(found["changed"]), values={"lock": found["state_text"]})
                if found and left_s <= call_s:
                    raise LockHeldError(
                        f"{args.folder} {found['state_text']}; wait for it (timeout), see it with perfdrv lock "
                        "status, or take it with perfdrv lock break"
                    )
                if found and found["state_text"] != shown:
                    shown = found["state_text"]
                    show_wait(f"{args.folder} {shown}")
                context.check_interrupted()
        except PerfError:
            if shown:
                with suppress(PerfError):
                    self.on_host(context, state="left", who=who)
            raise

    def _call(self, context: VerbContext, shown: str, left_s: float, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of the host; None if a host that has answered before is unreachable now."""
        try:
            return self.on_host(context, **request)
        except HostError:
            if not shown or not left_s:
                raise
            time.sleep(min(left_s, _AGAIN_S))
            return None
