# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.conditions import HostConditions
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Host
from ansible_collections.psap.perf.plugins.module_utils.quads.record import BOOKED, Records
from ansible_collections.psap.perf.plugins.module_utils.quads.selection import HostOptions, host_request, select
from ansible_collections.psap.perf.plugins.module_utils.quads.times import ServerClock
from ansible_collections.psap.perf.plugins.plugin_utils.quads import full_mark, server, show_summary
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    mark: str
    start: str
    free_for: Seconds


class ActionModule(CommandAction):
    """Choose hosts."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the free hosts and compare them here, since the filters of the server are unreliable."""
        args = context.arguments(Arguments)
        request = host_request(context.arguments(HostOptions), context.arguments(HostConditions))
        quads = server(context)
        own = Records(context.run_directory).parts(full_mark(context, args.mark))
        hosts = [name for each in own for name in each.hosts]
        if own and all(each.phase == BOOKED for each in own) and len(hosts) >= request.at_least:
            return VerbResult(values=_result_values(quads, hosts, (), {}, booked=True))
        start, end = _window(args.start, args.free_for)
        free = set(quads.available(start, end))
        known = {host.name: host for host in quads.hosts()}
        busy = [host for name, host in known.items() if name not in free]
        chosen = select(_free(quads, known, free), request, busy)
        show_summary(context, str(chosen))
        hosts, substitutes = ([host.name for host in part] for part in (chosen.hosts, chosen.substitutes))
        return VerbResult(values=_result_values(quads, hosts, substitutes, chosen.refused, booked=False))


def _result_values(
    quads: Quads, hosts: Sequence[str], substitutes: Sequence[str], refused: Mapping[str, str], booked: bool
) -> dict[str, Any]:
    return {
        "hosts": list(hosts),
        "substitutes": list(substitutes),
        "refused": dict(refused),
        "booked": booked,
        "server": {"kind": quads.server.kind, "version": quads.server.version},
    }


def _free(quads: Quads, hosts: dict[str, Host], free: set[str]) -> list[Host]:
    return [hosts[name] if name in hosts else quads.host(name) for name in sorted(free)]


def _window(start: str, length_s: float) -> tuple[datetime | None, datetime]:
    """Return start and end by the server's clock; without a start, the end is right for every time zone."""
    length = timedelta(seconds=length_s)
    if not start:
        return None, ServerClock().surely_after(datetime.now(UTC) + length)
    try:
        begin = datetime.strptime(start, "%Y-%m-%dT%H:%M")
    except ValueError as error:
        raise UsageError(f"invalid time {start!r}: write it as 2026-11-29T20:00, by the server's clock") from error
    return begin, begin + length
