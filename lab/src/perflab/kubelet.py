"""The kubelet endpoint of all simulated nodes: answers the API server's requests for container logs.

A process of its own in each lab. It keeps nothing: the text is the pod's annotation, read when asked for.
"""

from __future__ import annotations

import asyncio
import datetime
import ssl
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

from perflab.api import Api, connect
from perflab.errors import ClusterError
from perflab.ports import LOOPBACK
from perflab.state import read_lab

LOG = "lab.psap.perf/log"
_POLL_S = 1.0
_API: web.AppKey[Api] = web.AppKey("api", Api)


def render_log(pod: dict[str, Any], container: str, query: dict[str, str]) -> str:
    """The log of one container, with the options of `kubectl logs` applied.

    Raises ValueError when the container has no log yet, or is none of the pod's.
    """
    status = _container_status(pod, container)
    started = _started(status)
    annotations = pod["metadata"].get("annotations") or {}
    lines = annotations.get(LOG, _no_program(pod)).rstrip("\n").splitlines(keepends=False)
    if not _wanted(query, started):
        lines = []
    if query.get("tailLines", "").isdigit():
        count = int(query["tailLines"])
        lines = lines[len(lines) - count :] if count < len(lines) else lines
    if query.get("timestamps") == "true":
        lines = [f"{started} {line}" for line in lines]
    text = "".join(f"{line}\n" for line in lines)
    if query.get("limitBytes", "").isdigit():
        text = text.encode()[: int(query["limitBytes"])].decode(errors="ignore")
    return text


def has_ended(pod: dict[str, Any], container: str) -> bool:
    """True when no more log can come."""
    return "terminated" in _container_status(pod, container).get("state", {})


def _container_status(pod: dict[str, Any], container: str) -> dict[str, Any]:
    status = pod.get("status", {})
    known = [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
    found: dict[str, Any] = next((item for item in known if item["name"] == container), {})
    state = found.get("state", {})
    if "running" in state or "terminated" in state:
        return found
    reason = state.get("waiting", {}).get("reason", "ContainerCreating")
    pod_name = pod["metadata"]["name"]
    raise ValueError(f'container "{container}" in pod "{pod_name}" is waiting to start: {reason}')


def _started(status: dict[str, Any]) -> str:
    state = status.get("state", {})
    return str((state.get("running") or state.get("terminated") or {}).get("startedAt", ""))


def _wanted(query: dict[str, str], started: str) -> bool:
    since = query.get("sinceTime")
    if query.get("sinceSeconds", "").isdigit():
        earliest = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=int(query["sinceSeconds"]))
    elif since:
        earliest = datetime.datetime.fromisoformat(since)
    else:
        return True
    return datetime.datetime.fromisoformat(started) >= earliest


def _no_program(pod: dict[str, Any]) -> str:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return f"{name} is simulated: no program ran. Its annotation {LOG} would be shown here."


async def _container_logs(request: web.Request) -> web.StreamResponse:
    query = dict(request.query)
    names = request.match_info
    path = f"/api/v1/namespaces/{names['namespace']}/pods/{names['pod']}"
    api = request.app[_API]
    try:
        pod = await api.get(path)
        text = render_log(pod, names["container"], query)
    except (ClusterError, ValueError) as error:
        return web.Response(status=400, text=str(error))
    if query.get("previous") == "true":
        return web.Response(status=400, text="a simulated container has no previous run")
    response = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    await response.prepare(request)
    await response.write(text.encode())
    while query.get("follow") == "true" and not has_ended(pod, names["container"]):
        await asyncio.sleep(_POLL_S)
        pod = await api.get(path)
    return response


async def _unsupported(request: web.Request) -> web.Response:
    return web.Response(status=501, text=f"simulated nodes do not serve {request.path}: no program runs there\n")


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")


def application(api: Api) -> web.Application:
    """The endpoint's routes."""
    app = web.Application()
    app[_API] = api
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", _container_logs)
    app.router.add_route("*", "/{rest:.*}", _unsupported)
    return app


async def serve(folder: Path, port: int) -> None:
    """Serve until the process is ended; only clients with a certificate of the lab see more than healthz."""
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is no lab")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "pki" / "ca.crt"))
    tls.load_cert_chain(folder / "pki" / "server.crt", folder / "pki" / "server.key")
    tls.verify_mode = ssl.CERT_OPTIONAL
    async with connect(folder, lab.server) as api:
        app = application(api)
        app.middlewares.append(_only_lab_clients)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, port, ssl_context=tls).start()
        await asyncio.Event().wait()


@web.middleware
async def _only_lab_clients(request: web.Request, handler: Any) -> web.StreamResponse:
    if request.path != "/healthz" and request.get_extra_info("peercert") is None:
        return web.Response(status=401, text="a client certificate of the lab is needed\n")
    response: web.StreamResponse = await handler(request)
    return response


if __name__ == "__main__":
    asyncio.run(serve(Path.cwd(), int(sys.argv[1])))
