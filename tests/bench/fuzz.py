"""Damage inputs of every kind 10,000 times and say what came of it: `python tests/bench/fuzz.py [COUNT] [SEED]`.

The same count and seed give the same damages. Ends with 1 when anything was answered other than by a named error.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz.harness import fuzz, shares

COUNT = 10_000
SEED = 2


def main() -> int:
    """A line for each kind of input, then all that failed."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    codes: Counter[int] = Counter()
    failures: list[str] = []
    for name, part in shares(count):
        began = time.process_time()
        outcome = fuzz(name, part, seed)
        took = time.process_time() - began
        told = ", ".join(f"{number} with exit code {code}" for code, number in sorted(outcome.codes.items()))
        print(f"{name}: {part} damages, {1000 * took / part:.0f} ms of CPU each: {told}", flush=True)
        codes += outcome.codes
        failures += outcome.failures
    print(f"{codes.total()} damages, {len(failures)} not answered by name; exit codes {dict(sorted(codes.items()))}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
