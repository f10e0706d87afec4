"""A small load generator with the interface and results of llm-load-test, for pods with Python alone.

It runs as a program, ``load_test.py -c CONFIGURATION``, and reads the configuration as JSON. Each user sends one
request after the other to OpenAI's API, until the duration is over. It does not replace the load generators of
measurements.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_OK = 200
_TIMEOUT_S = 300.0
_PROMPTS = ("why is the sky blue", "name three uses of a spanner", "write a sentence about the sea")


def load(config: dict[str, Any]) -> dict[str, Any]:
    """Return the results of the load that a configuration of llm-load-test describes."""
    options = config["load_options"]
    results: list[dict[str, Any]] = []
    end = time.monotonic() + options["duration"]

    def use(number: int) -> None:
        for prompt in _prompts(number):
            results.append({"user_id": number, **_request(config, prompt)})
            if time.monotonic() >= end:
                return

    users = [threading.Thread(target=use, args=(number,)) for number in range(options["concurrency"])]
    for user in users:
        user.start()
    for user in users:
        user.join()
    failures = sum(one["error_text"] is not None for one in results)
    return {
        "results": results,
        "config": {
            "load_options": options,
            "plugin_options": config["plugin_options"],
            "extra_metadata": {"written_by": "perflab's load client, not llm-load-test"},
        },
        "summary": {"total_requests": len(results), "total_failures": failures},
    }


def _prompts(user: int) -> Iterator[str]:
    number = user
    while True:
        # numbers make the prompts differ, so that no server has their beginnings in its cache
        yield f"{number} {_PROMPTS[number % len(_PROMPTS)]}"
        number += 7


def _request(config: dict[str, Any], prompt: str) -> dict[str, Any]:
    plugin = config["plugin_options"]
    body = {
        "model": plugin["model_name"],
        "prompt": prompt,
        "max_tokens": config["dataset"]["max_output_tokens"],
        "stream": True,
        "stream_options": {"include_usage": True},
        # all answers have the same length
        "ignore_eos": True,
    }
    place = urlsplit(plugin["host"])
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=_TIMEOUT_S)
    began, first, usage = time.time(), None, {"prompt_tokens": 0, "completion_tokens": 0}
    code = None
    try:
        with closing(connection):
            connection.request("POST", plugin["endpoint"], json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            code = response.status
            if code != _OK:
                return _failure(
                    began, code, f"{code} {response.reason}: {response.read(300).decode('utf-8', 'replace')}"
                )
            for line in response:
                if line.startswith(b"data: {"):
                    part = json.loads(line.removeprefix(b"data: "))
                    first = first or (time.time() if part.get("choices") else None)
                    usage = part.get("usage") or usage
    except (OSError, http.client.HTTPException, ValueError) as error:
        return _failure(began, code, f"{type(error).__name__}: {error}")
    if first is None:
        return _failure(began, code, "the answer has no token")
    return _record(began, first, usage)


def _failure(began: float, code: int | None, text: str) -> dict[str, Any]:
    return {"start_time": began, "end_time": time.time(), "error_code": code, "error_text": text}


def _record(began: float, first: float, usage: dict[str, int]) -> dict[str, Any]:
    return {
        "start_time": began,
        "first_token_time": first,
        "end_time": time.time(),
        "ttft": 1000 * (first - began),
        "input_tokens": usage["prompt_tokens"],
        "output_tokens": usage["completion_tokens"],
        "output_tokens_before_timeout": usage["completion_tokens"],
        "error_code": None,
        "error_text": None,
    }


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", type=Path, required=True)
    config = json.loads(parser.parse_args().c.read_text())
    results = load(config)
    output = config["output"]
    Path(output["dir"], output["file"]).write_text(json.dumps(results))
    requests, failures = results["summary"]["total_requests"], results["summary"]["total_failures"]
    sys.stdout.write(f"{requests} requests of {config['load_options']['concurrency']} users, {failures} failed\n")


if __name__ == "__main__":
    _main()
