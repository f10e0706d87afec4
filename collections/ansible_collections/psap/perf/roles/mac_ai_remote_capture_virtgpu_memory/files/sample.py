"""Writes what a program says of memory, a line of JSON each: ``sample.py SECONDS PROGRAM ARGUMENT…``.

Python 3.9 is all that it needs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

_USED = re.compile(r"used (\d+)")


def main(interval_s: float, program: list[str]) -> None:
    """Sample until it is ended, or the program fails."""
    while True:
        asked = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if asked.returncode != 0:
            sys.exit(f"{' '.join(program)} ended with {asked.returncode}")
        found = _USED.search(asked.stdout)
        sample = {"at_s": time.time(), "used_bytes": int(found[1]) if found else None}
        print(json.dumps(sample), flush=True)
        time.sleep(interval_s)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
