"""Damage inputs of every kind 10,000 times and print the outcomes: `python tests/bench/fuzz.py [COUNT] [SEED]`.

The same count and seed cause the same damage. Exits with 1 if any command ended other than with a named error.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "collections"))

from tests.fuzz.harness import fuzz, shares

COUNT = 10_000
SEED = 2


def main() -> int:
    """Print a line for each kind of input, then all failures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    codes: Counter[int] = Counter()
    failures: list[str] = []
    for name, part in shares(count):
        began = time.process_time()
        outcome = fuzz(name, part, seed)
        took = time.process_time() - began
        ends = ", ".join(f"{number} with exit code {code}" for code, number in sorted(outcome.codes.items()))
        print(f"{name}: {part} damages, {1000 * took / part:.0f} ms of CPU each: {ends}", flush=True)
        codes += outcome.codes
        failures += outcome.failures
    print(f"{codes.total()} damages, {len(failures)} without a named error; exit codes {dict(sorted(codes.items()))}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
