"""Writes the used memory that a program prints, a line of JSON for each sample:
``sample.py SECONDS PROGRAM ARGUMENT…``.

Needs only Python 3.9.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

_USED = re.compile(r"used (\d+)")


def main(interval_s: float, program: list[str]) -> None:
    """Write samples until killed or until the program fails."""
    while True:
        done = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(program)} ended with {done.returncode}")
        found = _USED.search(done.stdout)
        sample = {"at_s": time.time(), "used_bytes": int(found[1]) if found else None}
        print(json.dumps(sample), flush=True)
        time.sleep(interval_s)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
