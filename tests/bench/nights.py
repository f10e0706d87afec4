"""What a nightly judgement finds in a synthetic history of 60 nights of two flows, and its false alarms.

python -m tests.bench.nights [--seeds 5] [--flat 50]
"""

from __future__ import annotations

import argparse

from tests.unit.analysis.nights import FLOWS, PLANTED, PLANTS, Found, judge_nights


def main() -> None:
    """Judge the nights of each flow and seed; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--flat", type=int, default=50, help="flat series of each flow")
    given = parser.parse_args()
    found = {(flow, seed): judge_nights(flow, given.flat, seed) for flow in FLOWS for seed in range(given.seeds)}
    print(f"{'KPI':<14} {'found':>8} {'first alarm, night':>20} {'nights with an alarm':>22}")
    for name in (*PLANTS[:-1], "renamed_new", "of_setting"):
        print_row(name, found)
    alarms = sum(len(each.false) for each in found.values())
    series = given.flat * len(found)
    judged = sum(each.judged for each in found.values())
    print(f"false alarms: {alarms} of {series} flat series in {judged} judgements ({alarms / judged:.2e} each)")
    worst = max(len({each[0] for each in one.false}) for one in found.values())
    print(f"flat series with an alarm in any of 60 nights: at most {worst} of {given.flat} of a flow")


def print_row(name: str, found: dict[tuple[str, int], Found]) -> None:
    """Print the alarms of a planted KPI over flows and seeds."""
    of_name = [each.alarms[name] for (flow, _), each in found.items() if name != "of_setting" or flow == "kserve"]
    # an alarm before the change is false
    hits = [[night for night in nights if night >= (0 if name in ("drift",) else PLANTED)] for nights in of_name]
    firsts = sorted(nights[0] for nights in hits if nights)
    shown = f"{firsts[0]} to {firsts[-1]}" if firsts else "none"
    counts = sorted(len(nights) for nights in hits)
    print(f"{name:<14} {len(firsts):>3} of {len(hits):<2} {shown:>20} {f'{counts[0]} to {counts[-1]}':>22}")


if __name__ == "__main__":
    main()
