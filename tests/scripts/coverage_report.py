"""Print the branch coverage of each package: `python tests/scripts/coverage_report.py`, which make coverage calls.

Exits with 1 if a package is below its floor: its coverage when that was set, rounded down.
"""

from __future__ import annotations

import io
import sys

from coverage import Coverage

# package → the least branch coverage by unit tests alone, in per cent
FLOORS = {
    "analysis/src/perfanalysis": 96,
    # what starts Ansible and whole CI jobs is tested as processes, by integration tests
    "driver/src/perfci": 90,
    "driver/src/perfdrv": 88,
    "lab/src/perflab": 76,
    "collections/ansible_collections/psap/perf/plugins": 86,
}


def main() -> int:
    """Print a line for each package, and one for all of them."""
    measured = Coverage()
    measured.load()
    missed = False
    for package, floor in FLOORS.items():
        covered = measured.report(include=[f"{package}/*"], file=io.StringIO())
        missed |= covered < floor
        print(f"{package:<52}{covered:5.1f} %  (at least {floor} %)")
    print(f"{'all':<52}{measured.report(file=io.StringIO()):5.1f} %")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
