"""Times the first token of completions, and reads what the server says of its rates.

``first_tokens.py openai|ollama URL MODEL REQUESTS`` asks on the host of the server, one request after the other. Python
3.9 is all that it needs.
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
# what a token is told in, in seconds
_RATES = {
    "openai": (("prompt_n", "prompt_ms"), ("predicted_n", "predicted_ms"), 1e3),
    "ollama": (("prompt_eval_count", "prompt_eval_duration"), ("eval_count", "eval_duration"), 1e9),
}
_PATHS = {"openai": "/v1/completions", "ollama": "/api/generate"}


def asked(api: str, model: str, number: int) -> dict[str, Any]:
    """The body of a request; no two begin with the same words, whose work a server would remember."""
    body = {"model": model, "prompt": f"{number}. {_TEXT}", "stream": True}
    return {**body, "options": {"num_predict": _TOKENS}} if api == "ollama" else {**body, "max_tokens": _TOKENS}


def part(line: bytes) -> dict[str, Any]:
    """What a line of an answer says: JSON, of OpenAI's API after a word; empty for what says nothing."""
    text = line.strip().removeprefix(b"data: ")
    return json.loads(text) if text.startswith(b"{") else {}


def rates(api: str, said: dict[str, Any]) -> dict[str, Any]:
    """How many tokens of the prompt and of the answer took how long, by the server itself; None where it is silent."""
    prompt, generated, per_s = _RATES[api]
    # llama.cpp adds them to what OpenAI's API has
    told = said.get("timings") or {} if api == "openai" else said
    took = {"prompt_s": told.get(prompt[1]), "generated_s": told.get(generated[1])}
    return {
        "prompt_tokens": told.get(prompt[0]),
        "generated_tokens": told.get(generated[0]),
        **{name: value and value / per_s for name, value in took.items()},
    }


def timed(api: str, url: str, model: str, number: int) -> dict[str, Any]:
    """A request: seconds until its first token, and until its end, with how many parts it was answered in."""
    parts, first_s, last = 0, None, {}
    connecting = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_PATIENCE_S)
    begun = time.monotonic()
    with contextlib.closing(connecting) as connection:
        body = json.dumps(asked(api, model, number))
        connection.request("POST", _PATHS[api], body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            sys.exit(f"{url} answers {answer.status}: {answer.read(2000).decode('utf-8', 'replace')}")
        for line in answer:
            last = part(line) or last
            if b'"choices"' in line or b'"response"' in line:
                parts, first_s = parts + 1, first_s or time.monotonic() - begun
    if first_s is None:
        sys.exit(f"{url} answers no token")
    took = {"first_token_s": first_s, "took_s": time.monotonic() - begun, "parts": parts}
    return {"number": number, **took, **rates(api, last)}


if __name__ == "__main__":
    print(json.dumps([timed(*sys.argv[1:4], number) for number in range(1, int(sys.argv[4]) + 1)]))
