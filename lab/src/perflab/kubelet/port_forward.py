"""Port-forwards to simulated pods: a port of a pod may represent one on which a program of the lab listens.

The server of a pod that serves a model listens at the pod's own address; clients see it on ports 8080 and 8000. Port
9090 of a pod with an endpoint picker is the metrics of the lab's program that runs all pickers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import WSMsgType, web

from perflab.cluster.model_pods import MODEL, address_of
from perflab.processes.ports import LOOPBACK
from perflab.profiles import MODELS, PICKER_METRICS

# annotation of a pod: its port → the name of the lab's, such as {"8080": "etcd"}
PORTS = "lab.psap.perf/ports"
# the default ports of KServe's runtimes, and of the pods of LLMInferenceServices
MODEL_PORTS = (8080, 8000)
# the label of a pod with an endpoint picker, and the port of its metrics in KServe's templates
_COMPONENT, _PICKER = "app.kubernetes.io/component", "llminferenceservice-router-scheduler"
_PICKER_PORT = 9090
PROTOCOL = "v4.channel.k8s.io"
_CHUNK_BYTES = 1 << 16
# data of the only port of a connection
_DATA, _ERROR = b"\0", b"\1"


def lab_address(pod: Mapping[str, Any], port: int, ports: Mapping[str, int]) -> tuple[str, int]:
    """Return the address in the lab that *port* of a pod represents.

    Raises ValueError with the reason if the port represents no address.
    """
    annotations = pod["metadata"].get("annotations") or {}
    if port in MODEL_PORTS and MODEL in annotations and MODELS in ports:
        return address_of(pod), ports[MODELS]
    picks = (pod["metadata"].get("labels") or {}).get(_COMPONENT) == _PICKER
    if port == _PICKER_PORT and picks and PICKER_METRICS in ports:
        return LOOPBACK, ports[PICKER_METRICS]
    text = annotations.get(PORTS, "{}")
    try:
        name = json.loads(text).get(str(port))
    except (ValueError, AttributeError) as error:
        raise ValueError(f"the annotation {PORTS} is not a JSON object: {text}") from error
    if name is None:
        raise ValueError(f"no program listens on port {port} of a simulated pod; its annotation {PORTS} may name one")
    if name not in ports:
        raise ValueError(f"the lab has no port {name!r}; known: {', '.join(sorted(ports))}")
    return LOOPBACK, ports[name]


async def forward(request: web.Request, pod: Mapping[str, Any], ports: Mapping[str, int]) -> web.StreamResponse:
    """Forward data in both directions until either side ends."""
    port = int(request.query["port"])
    socket = web.WebSocketResponse(protocols=(PROTOCOL,))
    await socket.prepare(request)
    for channel in (_DATA, _ERROR):
        await socket.send_bytes(channel + port.to_bytes(2, "little"))
    try:
        reader, writer = await asyncio.open_connection(*lab_address(pod, port, ports))
    except (ValueError, OSError) as error:
        await socket.send_bytes(_ERROR + str(error).encode())
        await socket.close()
        return socket
    answers = asyncio.create_task(_pass_answers(reader, socket))
    try:
        async for message in socket:
            if message.type is WSMsgType.BINARY and message.data[:1] == _DATA:
                writer.write(message.data[1:])
                await writer.drain()
    finally:
        answers.cancel()
        writer.close()
    return socket


async def _pass_answers(reader: asyncio.StreamReader, socket: web.WebSocketResponse) -> None:
    while chunk := await reader.read(_CHUNK_BYTES):
        await socket.send_bytes(_DATA + chunk)
    await socket.close()
