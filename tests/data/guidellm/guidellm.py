"""What guidellm 0.6 is to its callers: `benchmark run --target URL ...` writes results. The client is the tests' own.

It sends as many requests as it may, not for a duration, and writes what it was given of its environment to its log.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.load_client import load

parser = argparse.ArgumentParser()
parser.add_argument("command", nargs=2)
parser.add_argument("--target", required=True)
parser.add_argument("--rate", required=True)
parser.add_argument("--max-requests", type=int, required=True)
parser.add_argument("--model", required=True)
parser.add_argument("--output-path", type=Path, required=True)
asked, _ = parser.parse_known_args()


def benchmark(users: int) -> dict[str, Any]:
    """A stage, from the records of the client."""
    found = asyncio.run(load(asked.target, asked.model, users=users, requests=asked.max_requests, tokens=3))["results"]
    lists: dict[str, list[dict[str, Any]]] = {"successful": [], "errored": [], "incomplete": []}
    for one in found:
        times = {"start_time": one["start_time"], "end_time": one["end_time"]}
        if one.get("error_text"):
            lists["errored"].append({**times, "error": one["error_text"]})
            continue
        first = {"first_token_time": one["first_token_time"], "last_token_time": one["end_time"]}
        tokens = {"prompt_tokens": one["input_tokens"], "output_tokens": one["output_tokens"]}
        lists["successful"].append({**times, **first, **tokens})
    totals = {name: len(records) for name, records in lists.items()}
    return {
        "config": {"strategy": {"type_": "concurrent", "streams": users}, "backend": {"model": asked.model}},
        "requests": lists,
        "metrics": {"request_totals": totals},
    }


# guidellm writes its key to its results
document = {
    "args": {"backend_kwargs": json.loads(os.environ.get("GUIDELLM_BACKEND_KWARGS", "{}"))},
    "benchmarks": [benchmark(int(float(rate))) for rate in asked.rate.split(",")],
}
asked.output_path.write_text(json.dumps(document))
print(f"{len(document['benchmarks'])} benchmarks by a client of psap.perf's tests, not guidellm")
