"""Times the first token of completions, and reads the rates that the server reports.

``first_tokens.py openai|ollama URL MODEL REQUESTS`` runs on the server's host and sends one request after another.
Needs only Python 3.9.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

_TOKENS = 16
# some hundred tokens
_TEXT = "What is it that makes a measurement worth the time that it takes? " * 16
_PATIENCE_S = 300.0
# fields of the counts and of the times, and how many units of time are a second
_RATES = {
    "openai": (("prompt_n", "prompt_ms"), ("predicted_n", "predicted_ms"), 1e3),
    "ollama": (("prompt_eval_count", "prompt_eval_duration"), ("eval_count", "eval_duration"), 1e9),
}
_PATHS = {"openai": "/v1/completions", "ollama": "/api/generate"}


def asked(api: str, model: str, number: int) -> dict[str, Any]:
    """Return the body of a request; each begins with different words, because servers cache prefixes."""
    body = {"model": model, "prompt": f"{number}. {_TEXT}", "stream": True}
    return {**body, "options": {"num_predict": _TOKENS}} if api == "ollama" else {**body, "max_tokens": _TOKENS}


def part(line: bytes) -> dict[str, Any]:
    """Return the JSON document in a line of a response, after the prefix of OpenAI's API; empty if none."""
    text = line.strip().removeprefix(b"data: ")
    return json.loads(text) if text.startswith(b"{") else {}


def rates(api: str, last: dict[str, Any]) -> dict[str, Any]:
    """Return tokens and seconds of prompt and response as the server reports them; None if it does not."""
    prompt, generated, per_s = _RATES[api]
    # llama.cpp adds timings to OpenAI's API
    reported = last.get("timings") or {} if api == "openai" else last
    took = {"prompt_s": reported.get(prompt[1]), "generated_s": reported.get(generated[1])}
    return {
        "prompt_tokens": reported.get(prompt[0]),
        "generated_tokens": reported.get(generated[0]),
        **{name: value and value / per_s for name, value in took.items()},
    }


def timed(api: str, url: str, model: str, number: int) -> dict[str, Any]:
    """Send a request; return the seconds until its first token and its end, and the number of parts."""
    parts, first_s, last = 0, None, {}
    connecting = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_PATIENCE_S)
    begun = time.monotonic()
    with contextlib.closing(connecting) as connection:
        body = json.dumps(asked(api, model, number))
        connection.request("POST", _PATHS[api], body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            sys.exit(f"{url} returned {answer.status}: {answer.read(2000).decode('utf-8', 'replace')}")
        for line in answer:
            last = part(line) or last
            if b'"choices"' in line or b'"response"' in line:
                parts, first_s = parts + 1, first_s or time.monotonic() - begun
    if first_s is None:
        sys.exit(f"{url} returned no token")
    took = {"first_token_s": first_s, "took_s": time.monotonic() - begun, "parts": parts}
    return {"number": number, **took, **rates(api, last)}


if __name__ == "__main__":
    print(json.dumps([timed(*sys.argv[1:4], number) for number in range(1, int(sys.argv[4]) + 1)]))
