"""The kubelet endpoint of all simulated nodes: serves the API server's requests for container logs and port-forwards.

It is a separate process in each lab and has no state: the text is the pod's annotation, read at each request. The
output of a trainer is computed from the numbers in its annotation, up to the current progress of the training.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path
from typing import Any

from aiohttp import web

from perflab.cluster.api import Api, connect
from perflab.errors import ClusterError
from perflab.kubelet.container_logs import has_ended, log_of, render_log
from perflab.kubelet.port_forward import forward
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab, read_lab

_POLL_S = 0.5
_CHUNK_LINES = 500
_API: web.AppKey[Api] = web.AppKey("api", Api)
_LAB: web.AppKey[Lab] = web.AppKey("lab", Lab)


async def _container_logs(request: web.Request) -> web.StreamResponse:
    query = dict(request.query)
    names = request.match_info
    path = f"/api/v1/namespaces/{names['namespace']}/pods/{names['pod']}"
    api = request.app[_API]
    try:
        pod = await api.get(path)
        # a training of many steps prints megabytes: other requests are served meanwhile
        text = await asyncio.to_thread(render_log, pod, names["container"], query)
    except (ClusterError, ValueError) as error:
        return web.Response(status=400, text=str(error))
    if query.get("previous") == "true":
        return web.Response(status=400, text="a simulated container has no previous run")
    response = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
    await response.prepare(request)
    await response.write(text.encode())
    if query.get("follow") == "true":
        await _follow(api, path, pod, names["container"], query, response)
    return response


async def _follow(
    api: Api, path: str, pod: dict[str, Any], container: str, query: dict[str, str], response: web.StreamResponse
) -> None:
    """Write the rest of the log after the first response, until the container has ended."""
    written, stamped = len(log_of(pod, container)), query.get("timestamps") == "true"
    while not has_ended(pod, container):
        await asyncio.sleep(_POLL_S)
        pod = await api.get(path)
        lines = await asyncio.to_thread(log_of, pod, container)
        for start in range(written, len(lines), _CHUNK_LINES):
            chunk = lines[start : start + _CHUNK_LINES]
            await response.write("".join(line.shown(stamped) for line in chunk).encode())
        written = max(written, len(lines))


async def _port_forward(request: web.Request) -> web.StreamResponse:
    names = request.match_info
    try:
        pod = await request.app[_API].get(f"/api/v1/namespaces/{names['namespace']}/pods/{names['pod']}")
    except ClusterError as error:
        return web.Response(status=400, text=str(error))
    return await forward(request, pod, request.app[_LAB].ports)


async def _unsupported(request: web.Request) -> web.Response:
    return web.Response(status=501, text=f"simulated nodes do not serve {request.path}: no program runs there\n")


async def _healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")


def application(api: Api, lab: Lab) -> web.Application:
    """Return the endpoint's routes."""
    app = web.Application()
    app[_API], app[_LAB] = api, lab
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", _container_logs)
    app.router.add_get("/portForward/{namespace}/{pod}", _port_forward)
    app.router.add_route("*", "/{rest:.*}", _unsupported)
    return app


async def serve(folder: Path, port: int) -> None:
    """Serve until the process is ended; clients without a certificate of the lab only see healthz."""
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is not a lab")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "pki" / "ca.crt"))
    tls.load_cert_chain(folder / "pki" / "server.crt", folder / "pki" / "server.key")
    tls.verify_mode = ssl.CERT_OPTIONAL
    async with connect(folder, lab.server) as api:
        app = application(api, lab)
        app.middlewares.append(_only_lab_clients)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, port, ssl_context=tls).start()
        await asyncio.Event().wait()


@web.middleware
async def _only_lab_clients(request: web.Request, handler: Any) -> web.StreamResponse:
    if request.path != "/healthz" and request.get_extra_info("peercert") is None:
        return web.Response(status=401, text="a client certificate of the lab is required\n")
    response: web.StreamResponse = await handler(request)
    return response


if __name__ == "__main__":
    asyncio.run(serve(Path.cwd(), int(sys.argv[1])))
