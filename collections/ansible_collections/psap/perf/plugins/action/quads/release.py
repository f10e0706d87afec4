# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.quads.record import RELEASED, Records
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import (
    ReleaseResult,
    left_alone,
    own,
    release,
    unfinished,
)
from ansible_collections.psap.perf.plugins.modules.quads.release import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.quads import (
    Booking,
    booking,
    bookings,
    described,
    recorded,
    show_progress,
    show_summary,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    mark: str
    unfinished: bool


class ActionModule(PerfAction):
    """Release the assignments of a mark, or those that the run did not finish booking."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """End the assignments; in check mode, only find them."""
        args = context.arguments(Arguments)
        if args.unfinished:
            records = list(Records(context.run_directory).all())
            found = (booking(context, mark=each.mark) for each in unfinished(records))
            return _release_all(context, found, left_alone(records))
        if "/" not in args.mark and recorded(context, args.mark) is None:
            # a booking is recorded before the first request
            return VerbResult(values={"released": []}, skipped="this run has booked nothing")
        return _release_all(context, bookings(context), ())


def _release_all(context: VerbContext, found: Iterable[Booking], warnings: tuple[str, ...]) -> VerbResult:
    ended, sentences = [], list(warnings)
    for one in found:
        if context.check_mode:
            ended += own(one.quads, one.record)
            continue
        released = _release(context, one)
        ended += released.ended
        if released.lost:
            sentences.append(
                f"the server did not respond to the request for {one.record.mark} ({released.lost}) and has made no "
                "assignment yet; if one appears later, perfdrv quads list-assignments shows it, and perfdrv quads "
                f"release-assignment --mark {one.record.mark} releases it"
            )
    clouds = ", ".join(f"{each.cloud} (assignment {each.id})" for each in ended)
    verb = "would release" if context.check_mode else "released"
    show_summary(context, "; ".join([f"{verb} {clouds or 'nothing'}", *sentences]))
    values = {"released": [described(each, None) for each in ended]}
    return VerbResult(changed=bool(ended), values=values, warnings=tuple(sentences))


def _release(context: VerbContext, one: Booking) -> ReleaseResult:
    with show_progress(context, f"the release of {one.record.mark}", 0) as report:
        released = release(one.quads, one.record, report=report)
    if Records(context.run_directory).read(one.record.mark) is not None:
        one.journal.note(phase=RELEASED)
    return released
