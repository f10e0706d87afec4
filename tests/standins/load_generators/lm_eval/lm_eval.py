"""A stand-in for lm_eval, whose installation has 0.8 GB: asks the model the questions of one local task."""

from __future__ import annotations

import argparse
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

_ATTEMPTS = 5


def main() -> int:
    parser = argparse.ArgumentParser()
    if sys.argv[1] == "validate":
        # a task of the tests has one name
        folder, task = sys.argv[sys.argv.index("--include_path") + 1], sys.argv[sys.argv.index("--tasks") + 1]
        exists = (Path(folder) / f"{task}.jsonl").exists()
        print("All tasks found and valid" if exists else f"Tasks not found: {task}")
        return 0 if exists else 1
    parser.add_argument("run")
    for name in ("model", "model_args", "tasks", "include_path", "output_path", "seed"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--log_samples", action="store_true", required=True)
    given = parser.parse_args()
    data = Path(given.include_path) / f"{given.tasks}.jsonl"
    if not data.exists():
        print(f"Tasks not found: {given.tasks}")
        return 2
    samples = [json.loads(line) for line in data.read_text().splitlines()]
    model = json.loads(given.model_args)
    share = sum(_ask(model, each["question"]) == each["answer"] for each in samples) / len(samples)
    results = {
        "results": {given.tasks: {"exact_match,none": share, "exact_match_stderr,none": 0.25}},
        "n-samples": {given.tasks: {"original": len(samples), "effective": len(samples)}},
        "lm_eval_version": "stand-in",
    }
    folder = Path(given.output_path) / model["model"]
    folder.mkdir(parents=True)
    (folder / "results_1.json").write_text(json.dumps(results))
    return 0


def _ask(model: dict[str, str], question: str) -> str:
    """Return the answer; ask again after a failure, as lm_eval does."""
    body = json.dumps({"model": model["model"], "prompt": question, "max_tokens": 2}).encode()
    request = urllib.request.Request(model["base_url"], body, {"Content-Type": "application/json"})
    for attempt in range(_ATTEMPTS):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return str(json.load(answer)["choices"][0]["text"]).strip()
        except urllib.error.HTTPError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


if __name__ == "__main__":
    sys.exit(main())
