# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.booking import Booker, Partial, Wanted, refused_text
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Order
from ansible_collections.psap.perf.plugins.modules.quads.request import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import booking, described, telling
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Book hosts."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Which hosts would be asked for."""
        args = context.args
        count = args["count"] or len(args["hosts"])
        return (
            f"would book {', '.join(args['hosts'][:count])}; substitutes: {', '.join(args['hosts'][count:]) or 'none'}"
        )

    def perform(self, context: VerbContext) -> VerbResult:
        """Book them, unless they are booked."""
        args = context.args
        count = args["count"] or len(args["hosts"])
        if not args["hosts"] or not 1 <= args["at_least"] <= count:
            raise UsageError(
                f"at least {args['at_least']} of {count} hosts makes no sense: name hosts, and as many at least"
            )
        order = Order(
            args["description"],
            ticket=args["ticket"],
            wipe=args["wipe"],
            qinq=args["qinq"],
            cc_users=tuple(args["cc_users"]),
            vlan=args["vlan"] or None,
            cloud=args["cloud"],
            ostype=args["ostype"],
            boot_order=args["boot_order"],
        )
        wanted = Wanted(
            tuple(args["hosts"]),
            count,
            args["at_least"],
            Partial(args["partial"]),
            timedelta(seconds=seconds(args["lease_at_least"])),
            timedelta(seconds=seconds(args["lease_at_most"])),
        )
        one = booking(context)
        limits = {name: seconds(args[name]) for name in ("warn_before", "stop_before")}
        one.journal.note(**{f"{name}_s": value for name, value in limits.items()})
        with telling(context, f"booking {one.record.mark}", 0) as say:
            booked = Booker(one.quads, one.journal, say).book(order, wanted)
        facts = described(booked.assignment, booked.lease)
        hosts = [row.host.name for row in booked.rows]
        return VerbResult(
            changed=booked.changed,
            values={
                **facts,
                "mark": one.record.mark,
                "hosts": hosts,
                "refused": dict(booked.refused),
                "run_facts": {"quads": {"url": one.record.url, "mark": one.record.mark, **facts, "hosts": hosts}},
            },
            warnings=tuple(refused_text(booked.refused)),
        )
