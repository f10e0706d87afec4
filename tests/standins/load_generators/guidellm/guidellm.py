"""The interface of guidellm since 0.7: `run --backend kind=openai_http,target=URL ...` writes results.

The client is the tests' own. It sends the maximum number of requests, not for a duration, and logs its relevant
environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4]))

from tests.standins.load_generators.load_client import load


def pairs(text: str) -> dict[str, str]:
    """Return the pairs of a text such as `kind=json,path=/results`."""
    return dict(part.split("=", 1) for part in text.split(","))


parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["run"])
parser.add_argument("--backend", type=pairs, required=True)
parser.add_argument("--profile", type=pairs, required=True)
parser.add_argument("--override", nargs=2, default=("", ""))
parser.add_argument("--constraint", type=pairs, action="append", required=True)
parser.add_argument("--output", type=pairs, required=True)
asked, _ = parser.parse_known_args()
backend = asked.backend
api_key = os.environ.get("GUIDELLM__SPEC__BACKEND__API_KEY", "")
[requests] = [int(each["count"]) for each in asked.constraint if each["kind"] == "max_requests"]


def benchmark(users: int) -> dict[str, Any]:
    """Return a stage, from the records of the client."""
    loaded = load(backend["target"], backend["model"], users=users, requests=requests, tokens=3, api_key=api_key)
    found = asyncio.run(loaded)["results"]
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
        "config": {"strategy": {"type_": "concurrent", "streams": users}, "backend": {"model": backend["model"]}},
        "requests": lists,
        "metrics": {"request_totals": totals},
    }


# guidellm writes its key to its results
document = {
    "args": {"backend": {**backend, "api_key": api_key}},
    "benchmarks": [benchmark(int(streams)) for streams in (asked.override[1] or asked.profile["streams"]).split(",")],
}
Path(asked.output["path"]).write_text(json.dumps(document))
print(f"{len(document['benchmarks'])} benchmarks by a client of psap.perf's tests, not guidellm")
