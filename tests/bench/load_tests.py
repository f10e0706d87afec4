"""Results of guidellm or aiperf: 10,000 requests at most 1 s, a million at most 60 s and 1.5 GB, from file to tables.

    python tests/bench/load_tests.py [--generator guidellm|aiperf] [--requests N ...] [--repeat N]

The results are synthetic and marked as such: 4 kB a request, as guidellm 0.8 writes with the text of its answers, or
1.4 kB, as aiperf 0.13 writes with the time of each token. `perfanalysis parse` is measured as a whole process with an
empty cache, then `perfanalysis kpi` on its tables. Prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.whole_process import PERFANALYSIS, cost_of, output_of, quickest

RESULTS = {"guidellm": "benchmarks.json", "aiperf": "profile_export.jsonl"}
SIZES = (10_000, 1_000_000)
STREAMS = 64
RECORD_BYTES = 3_400
"""Text of an answer, so that a record has 4 kB."""


SENTENCE = 'An answer of words, such as "yes", with a\nline, {code} and [lists]. '


def write(folder: str, requests: int, generator: str) -> None:
    """Write the results, and print the run."""
    from tests.data.load_tests import Load, write_aiperf, write_guidellm

    if generator == "aiperf":
        write_aiperf(Path(folder) / "run" / "000__t" / "artifacts", Load(STREAMS, requests))
        print(Path(folder) / "run")
        return
    padding = (SENTENCE * (RECORD_BYTES // len(SENTENCE) + 1))[:RECORD_BYTES]
    write_guidellm(Path(folder) / "run" / "000__t" / "artifacts", [Load(STREAMS, requests)], padding=padding)
    print(Path(folder) / "run")


def main() -> None:
    """Write results of each size and print the cost of reading them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, nargs="+", default=SIZES)
    parser.add_argument("--generator", choices=RESULTS, default="guidellm")
    parser.add_argument("--repeat", type=int, default=2, help="repetitions of each; the fastest counts")
    parser.add_argument("--write", metavar="FOLDER", help="only write the run there")
    given = parser.parse_args()
    if given.write:
        write(given.write, given.requests[0], given.generator)
        return
    for requests in given.requests:
        folder = Path(tempfile.mkdtemp(prefix="load-tests-"))
        try:
            words = ("--generator", given.generator, "--requests", str(requests), "--write", str(folder))
            run = output_of("tests.bench.load_tests", *words)
            size = next(Path(run).rglob(RESULTS[given.generator])).stat().st_size
            print(f"{requests} requests, {size / 1e6:.0f} MB")
            tables = folder / "report"
            parsed = quickest(
                (*PERFANALYSIS, "parse", run, "--output", str(tables)),
                given.repeat,
                before=lambda tables=tables: shutil.rmtree(tables, ignore_errors=True),  # type: ignore[misc]
            )
            print(f"  parse: {parsed.text}")
            print(f"  kpi:   {cost_of((*PERFANALYSIS, 'kpi', run, '--output', str(tables))).text}", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
