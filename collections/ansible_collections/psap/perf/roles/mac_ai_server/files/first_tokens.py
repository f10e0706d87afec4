"""Times how long a server takes to the first token of a completion: ``first_tokens.py URL MODEL REQUESTS``.

It asks on the host of the server, one request after the other, as clients of OpenAI's API do. Python 3.9 is all that it
needs.
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


def timed(url: str, model: str, number: int) -> dict[str, Any]:
    """A request: seconds until its first token, and until its end, with how many parts it was answered in."""
    # no two begin with the same words, whose work a server would remember
    body = {"model": model, "prompt": f"{number}. {_TEXT}", "max_tokens": _TOKENS, "stream": True}
    parts, first_s = 0, None
    connecting = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_PATIENCE_S)
    begun = time.monotonic()
    with contextlib.closing(connecting) as connection:
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            sys.exit(f"{url} answers {answer.status}: {answer.read(2000).decode('utf-8', 'replace')}")
        for line in answer:
            if line.startswith(b"data: ") and b'"choices"' in line:
                parts, first_s = parts + 1, first_s or time.monotonic() - begun
    if first_s is None:
        sys.exit(f"{url} answers no token")
    return {"number": number, "first_token_s": first_s, "took_s": time.monotonic() - begun, "parts": parts}


if __name__ == "__main__":
    print(json.dumps([timed(*sys.argv[1:3], number) for number in range(1, int(sys.argv[3]) + 1)]))
