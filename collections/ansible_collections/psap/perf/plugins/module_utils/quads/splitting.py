"""Split a request over several clouds, each with its own assignment and network."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.quads.booked import Booked, Partial, Wanted
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError


def split(
    wanted: Wanted, clouds: int, book: Callable[[int, Wanted], Booked], release: Callable[[], None]
) -> list[Booked]:
    """Book *wanted* evenly over *clouds*, one after the other; hosts that one cloud refuses go to the next ones.

    Args:
        book: Books the part with a number, from 1, and releases it if it fails.
        release: Releases every part.

    Raises:
        QuadsError: If fewer than ``at_least`` hosts are booked, or than ``count`` if all or none are wanted.
    """
    parts: list[Booked] = []
    reasons: list[str] = []
    try:
        for number in range(1, clouds + 1):
            taken = {row.host.name for part in parts for row in part.rows}.union(*(part.refused for part in parts))
            hosts = tuple(name for name in wanted.hosts if name not in taken)
            booked = sum(len(part.rows) for part in parts)
            count = min(len(hosts), math.ceil((wanted.count - booked) / (clouds - number + 1)))
            if count <= 0:
                break
            at_least = wanted.at_least if clouds == 1 else 1
            try:
                parts.append(book(number, replace(wanted, hosts=hosts, count=count, at_least=at_least)))
            except QuadsError as error:
                if not parts or wanted.partial is Partial.RELEASE:
                    raise
                reasons.append(str(error))
                break
        booked = sum(len(part.rows) for part in parts)
        enough = wanted.count if wanted.partial is Partial.RELEASE else wanted.at_least
        if booked < enough:
            raise QuadsError(
                f"QUADS booked {booked} hosts of at least {enough} in {len(parts)} clouds, which were released: "
                f"{'; '.join(reasons) or 'they accepted no more'}"
            )
    except PerfError:
        if clouds > 1:
            release()
        raise
    return parts
