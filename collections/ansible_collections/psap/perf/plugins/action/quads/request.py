# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.booked import (
    Booked,
    Partial,
    Wanted,
    refused_text,
    summary,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.booking import Booker
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Order
from ansible_collections.psap.perf.plugins.module_utils.quads.record import RELEASED, part_mark
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import release
from ansible_collections.psap.perf.plugins.module_utils.quads.splitting import split
from ansible_collections.psap.perf.plugins.plugin_utils.quads import (
    booking,
    described,
    full_mark,
    show_progress,
    show_summary,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    mark: str
    hosts: tuple[str, ...]
    count: int
    at_least: int
    clouds: int
    partial: Partial
    description: str
    ticket: str
    wipe: bool
    qinq: int
    cc_users: tuple[str, ...]
    vlan: int
    cloud: str
    ostype: str
    boot_order: str
    lease_at_least: Seconds
    lease_at_most: Seconds
    warn_before: Seconds
    stop_before: Seconds


class ActionModule(CommandAction):
    """Book hosts."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return which hosts would be booked."""
        args = context.arguments(Arguments)
        count = args.count or len(args.hosts)
        return f"would book {', '.join(args.hosts[:count])}; substitutes: {', '.join(args.hosts[count:]) or 'none'}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Book the hosts unless they are booked already."""
        args = context.arguments(Arguments)
        count = args.count or len(args.hosts)
        at_least = args.at_least or count
        if not args.hosts or not 1 <= at_least <= count:
            raise UsageError(
                f"at least {at_least} of {count} hosts is impossible: set hosts, and count to at_least or more"
            )
        order = Order(
            args.description,
            ticket=args.ticket,
            wipe=args.wipe,
            qinq=args.qinq,
            cc_users=args.cc_users,
            vlan=args.vlan or None,
            cloud=args.cloud,
            ostype=args.ostype,
            boot_order=args.boot_order,
        )
        wanted = Wanted(
            args.hosts,
            count,
            at_least,
            args.partial,
            timedelta(seconds=args.lease_at_least),
            timedelta(seconds=args.lease_at_most),
        )
        clouds = min(args.clouds, count)
        if clouds < 1 or (clouds > 1 and args.cloud):
            raise UsageError("set clouds to 1 or more; with more than one, leave cloud empty")
        mark = full_mark(context, args.mark)
        parts = {number: booking(context, mark=part_mark(mark, number)) for number in range(1, clouds + 1)}
        for part in parts.values():
            # record all before the first request, so that a sweep finds them after a kill
            part.journal.plan(warn_before_s=args.warn_before, stop_before_s=args.stop_before)

        def release_all() -> None:
            # keep the parts that another command booked
            for part in (each for each in parts.values() if each.record.asked_at):
                release(part.quads, part.record)
                part.journal.note(phase=RELEASED)

        with show_progress(context, f"booking {mark}", 0) as report:

            def book(number: int, share: Wanted) -> Booked:
                return Booker(parts[number].quads, parts[number].journal, report).book(order, share)

            booked = split(wanted, clouds, book, release_all)
        for number in range(len(booked) + 1, clouds + 1):
            parts[number].journal.note(phase=RELEASED)
        show_summary(context, summary(booked, count))
        return _result(mark, parts[1].record.url, booked)


def _result(mark: str, url: str, booked: list[Booked]) -> VerbResult:
    clouds = [
        {**described(each.assignment, each.reservation), "hosts": [row.host.name for row in each.rows]}
        for each in booked
    ]
    # the reservation of several clouds ends with the shortest
    shortest = min(zip(booked, clouds, strict=True), key=lambda pair: pair[0].reservation.end)[1]
    facts = {**clouds[0], **{name: value for name, value in shortest.items() if name.startswith("lease_")}}
    facts["hosts"] = [name for each in clouds for name in each["hosts"]]
    refused = {name: why for each in booked for name, why in each.refused.items() if name not in facts["hosts"]}
    run_facts = {"url": url, "mark": mark, **facts, **({"clouds": clouds} if len(clouds) > 1 else {})}
    return VerbResult(
        changed=any(each.changed for each in booked),
        values={**facts, "mark": mark, "clouds": clouds, "refused": refused, "run_facts": {"quads": run_facts}},
        warnings=tuple(refused_text(refused)),
    )
