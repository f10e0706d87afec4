"""Create runs of a pipeline with the REST API of Kubeflow Pipelines (v2beta1).

The command copies this module into the notebook's pod: it needs only Python 3.9 and its standard library.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

RUNS_FILE = "runs.json"
_API = "apis/v2beta1"
_ENDED = ("SUCCEEDED", "FAILED", "CANCELED", "SKIPPED")
_SHOWN = 300


class ApiError(Exception):
    """The API does not answer, or refuses a request."""


@dataclass(frozen=True)
class Server:
    """The API of a Data Science Pipelines application.

    Attributes:
        url: Its base URL, without a slash at the end.
        token: The bearer token of requests; none if empty.
        authority: File with further certificates to trust; none if empty.
        timeout_s: Seconds to wait for each response.
    """

    url: str
    token: str = field(default="", repr=False)
    authority: str = ""
    timeout_s: float = 60.0

    def request(self, path: str, body: bytes = b"", kind: str = "application/json") -> dict[str, Any]:
        """Return the JSON answer to a POST of *body*, or to a GET if it is empty.

        Raises:
            ApiError: If the API does not answer, or refuses the request.
        """
        headers = {"Content-Type": kind, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        request = urllib.request.Request(f"{self.url}/{_API}/{path}", body or None, headers)  # noqa: S310 - of a user
        try:
            with self._opener().open(request, timeout=self.timeout_s) as answer:
                document: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as error:
            reason = error.read().decode("utf-8", "replace")[:_SHOWN]
            raise ApiError(f"the pipelines API refuses {path}: {error.code} {reason}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ApiError(f"the pipelines API at {self.url} does not answer {path}: {error}") from error
        return document

    def _opener(self) -> urllib.request.OpenerDirector:
        context = ssl.create_default_context()
        if self.authority:
            context.load_verify_locations(self.authority)
        return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


@dataclass(frozen=True)
class Plan:
    """The runs to create.

    Attributes:
        pipeline: Name of the pipeline, which is created.
        runs: Names of the runs, in order.
        delay_s: Seconds between the starts of two runs.
        sequential: Whether a run begins after the end of the one before.
    """

    pipeline: str
    runs: tuple[str, ...]
    delay_s: float
    sequential: bool


@dataclass
class Submitted:
    """A run that was requested at *asked_s*, in seconds since the epoch."""

    name: str
    asked_s: float
    id: str = ""
    error: str = ""


def submit(
    server: Server,
    plan: Plan,
    package: bytes,
    keep: Callable[[list[Submitted]], None],
    sleep: Callable[[float], None] = time.sleep,
) -> list[Submitted]:
    """Upload the pipeline, create its runs, and return them.

    A refused run is returned with its error, and does not prevent the following runs.

    Args:
        package: The compiled pipeline, in YAML.
        keep: Called with all runs so far, after each.

    Raises:
        ApiError: If the pipeline is refused.
    """
    reference = upload(server, plan.pipeline, package)
    done: list[Submitted] = []
    for name in plan.runs:
        if done:
            sleep(plan.delay_s)
        done.append(_create(server, name, reference))
        keep(done)
        while plan.sequential and not done[-1].error and not _has_ended(server, done[-1].id):
            sleep(1.0)
    return done


def upload(server: Server, name: str, package: bytes) -> dict[str, str]:
    """Upload a pipeline, and return the reference to its version.

    Raises:
        ApiError: If it is refused.
    """
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="uploadfile"; filename="pipeline.yaml"\r\n\r\n'
    body = head.encode() + package + f"\r\n--{boundary}--\r\n".encode()
    kind = f"multipart/form-data; boundary={boundary}"
    pipeline = server.request(f"pipelines/upload?name={quote(name)}", body, kind)
    identity = _field(pipeline, "pipeline_id")
    versions = server.request(f"pipelines/{identity}/versions").get("pipeline_versions") or []
    if not versions:
        raise ApiError(f"the pipelines API has no version of the pipeline {name}")
    return {"pipeline_id": identity, "pipeline_version_id": _field(versions[0], "pipeline_version_id")}


def _create(server: Server, name: str, reference: dict[str, str]) -> Submitted:
    run = Submitted(name, time.time())
    body = {"display_name": name, "pipeline_version_reference": reference}
    try:
        run.id = _field(server.request("runs", json.dumps(body).encode()), "run_id")
    except ApiError as error:
        run.error = str(error)
    return run


def _has_ended(server: Server, run: str) -> bool:
    return server.request(f"runs/{run}").get("state") in _ENDED


def _field(document: dict[str, Any], name: str) -> str:
    if name not in document:
        raise ApiError(f"the answer of the pipelines API has no {name}: {json.dumps(document)[:_SHOWN]}")
    return str(document[name])


def runs_text(runs: list[Submitted]) -> str:
    """Return the contents of ``runs.json``."""
    return json.dumps([asdict(run) for run in runs], indent=2) + "\n"


def main() -> int:
    """Create the runs that the environment of a notebook describes, write ``runs.json``, and print them."""
    value = os.environ
    token = Path(value["DSP_TOKEN_FILE"])
    authority = Path(value["DSP_CA_FILE"])
    server = Server(
        value["DSP_ENDPOINT"],
        token.read_text(encoding="utf-8").strip() if token.exists() else "",
        str(authority) if authority.exists() else "",
    )
    plan = Plan(
        value["PIPELINE_NAME"],
        tuple(value["RUN_NAMES"].split()),
        float(value["RUN_DELAY"]),
        value["WAIT_FOR_RUN_COMPLETION"] == "true",
    )
    folder = Path(value["NOTEBOOK_DIRECTORY"])
    text = (folder / value["PIPELINE_FILE"]).read_text(encoding="utf-8")
    package = text.replace("${STEP_IMAGE}", value["STEP_IMAGE"]).encode()
    results = Path(value["RESULTS_DIRECTORY"])

    def keep(runs: list[Submitted]) -> None:
        (results / RUNS_FILE).write_text(runs_text(runs), encoding="utf-8")

    refused = 0
    for run in submit(server, plan, package, keep):
        sys.stdout.write(f"{run.name}: {run.error or run.id}\n")
        refused += bool(run.error)
    return refused
