"""100,000 pods with 200,000 events from an empty cache to all standard plots: at most 20 s and 1 GB.

    python tests/bench/analysis_scale.py [--everything] [--repeat N]

The run is synthetic and marked as such: 50,000 workloads of two pods each from the queue model of the unit tests, with
two events of each pod. `perfanalysis report` is measured as a whole process. Prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.whole_process import PERFANALYSIS, cost_of, output_of, quickest

WORKLOADS, PODS_EACH = 50_000, 2
AIM_S, AIM_MB = 20, 1000
STARTED_AFTER_S = 1.0


def add_events(run: Path) -> int:
    """Add a second event to each pod, some time after its first; return the number of events."""
    [path] = run.rglob("events.jsonl")
    lines = path.read_text().splitlines()
    more = []
    for line in lines:
        event = json.loads(line)
        event |= {"reason": "Started", "message": f"Started container of {event['name']}"}
        event |= {"seen_s": event["seen_s"] + STARTED_AFTER_S, "server_s": event["server_s"] + STARTED_AFTER_S}
        more.append(json.dumps(event, separators=(",", ":")))
    path.write_text("".join(f"{line}\n" for line in [*lines, *more]))
    return 2 * len(lines)


def write(folder: str, workloads: int, *, everything: bool) -> None:
    """Write the run, and print its directory, its pods and its events."""
    from tests.data.synthetic_runs import Shape, write_run

    shape = Shape(workloads=workloads, pods=PODS_EACH, nodes=5_000, rate=300, schedule_rate=250, everything=everything)
    run = write_run(Path(folder), [shape])
    print(run, workloads * PODS_EACH, add_events(run))


def main() -> None:
    """Write the run, report on it, print the cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=2, help="reports of each kind; the fastest counts")
    parser.add_argument("--workloads", type=int, default=WORKLOADS)
    parser.add_argument("--everything", action="store_true", help="with queues, preemption, churn, metrics and so on")
    parser.add_argument("--write", metavar="FOLDER", help="only write the run there")
    given = parser.parse_args()
    if given.write:
        write(given.write, given.workloads, everything=given.everything)
        return
    with tempfile.TemporaryDirectory() as folder:
        options = ["--workloads", str(given.workloads), *(["--everything"] if given.everything else [])]
        place, pods, events = output_of("tests.bench.analysis_scale", "--write", folder, *options).split()
        run = Path(place)
        size = sum(path.stat().st_size for path in run.rglob("*.json*")) / 1e6
        print(f"{pods} pods, {events} events, {size:.0f} MB of JSON (synthetic); at most {AIM_S} s and {AIM_MB} MB")
        report = [*PERFANALYSIS, "report", str(run)]
        empty = quickest(report, given.repeat, before=lambda: shutil.rmtree(run / "report", ignore_errors=True))
        print(f"empty cache:   {empty.text}")
        print(f"cached tables: {cost_of(report).text}")
        page = run / "report" / "index.html"
        plots = re.findall('data-name="([^"]+)"', page.read_text())
        print(f"{len(plots)} plots: {', '.join(plots)}")
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
