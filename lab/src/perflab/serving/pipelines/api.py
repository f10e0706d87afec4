"""The routes of the API, below `/NAMESPACE/APPLICATION`, or at the host name of the Service of an application."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from perflab.cluster.api import Api, Document
from perflab.errors import ClusterError
from perflab.serving.pipelines import runs
from perflab.serving.pipelines.access import GROUP, PLURAL, refusal
from perflab.serving.pipelines.compiling import PipelineError, Run, check_pipeline, read_pipeline, workflow
from perflab.serving.pipelines.records import EXPERIMENTS, PIPELINES, Records

_SERVICE = "ds-pipeline-"
_MOST_BYTES = 32 << 20
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Backend:
    """What answers requests: the lab's API server, and the records of pipelines and experiments."""

    api: Api
    records: Records


Handler = Callable[[Backend, web.Request, Place], Awaitable[Document]]
BACKEND: web.AppKey[Backend] = web.AppKey("backend", Backend)


class RequestError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def application(backend: Backend) -> web.Application:
    """Return the routes."""
    app = web.Application(client_max_size=_MOST_BYTES)
    app[BACKEND] = backend
    app.router.add_get("/healthz", _health)
    for prefix in ("", "/{namespace}/{application}"):
        for method, path, handler in _ROUTES:
            app.router.add_route(method, f"{prefix}/apis/v2beta1/{path}", _answering(handler))
    return app


async def _health(_request: web.Request) -> web.Response:
    return web.Response(text="ok")


def _answering(handler: Handler) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        backend = request.app[BACKEND]
        try:
            place = _place(request)
            await _check(backend.api, request, place)
            return web.json_response(await handler(backend, request, place))
        except RequestError as error:
            return _refused(error.status, str(error))
        except (PipelineError, json.JSONDecodeError) as error:
            return _refused(400, str(error))
        except ClusterError as error:
            return _refused(500, str(error))

    return answer


def _refused(status: int, message: str) -> web.Response:
    return web.json_response({"error": message, "message": message, "code": status}, status=status)


def _place(request: web.Request) -> Place:
    if "application" in request.match_info:
        return request.match_info["namespace"], request.match_info["application"]
    service, _, domain = request.host.partition(".")
    if not service.startswith(_SERVICE) or not domain:
        raise RequestError(404, f"{request.host} is not the Service of an application")
    return domain.partition(".")[0].partition(":")[0], service.removeprefix(_SERVICE)


async def _check(api: Api, request: web.Request, place: Place) -> None:
    namespace, name = place
    refused = await refusal(api, request.headers.get("Authorization", ""), request.method, place)
    if refused:
        raise RequestError(refused.status, refused.reason)
    found = await api.get_present(f"/apis/{GROUP}/v1/namespaces/{namespace}/{PLURAL}/{name}")
    if found is None:
        raise RequestError(404, f"DataSciencePipelinesApplication {namespace}/{name} does not exist")
    conditions = (found.get("status") or {}).get("conditions") or ()
    if not any(each["type"] == "APIServerReady" and each["status"] == "True" for each in conditions):
        raise RequestError(503, f"the API server of {namespace}/{name} is not ready")


async def _body(request: web.Request) -> Document:
    found: Any = await request.json()
    if not isinstance(found, dict):
        raise RequestError(400, "the body is no JSON object")
    return found


async def _upload(backend: Backend, request: web.Request, place: Place) -> Document:
    form = await request.post()
    file = form.get("uploadfile")
    if not isinstance(file, web.FileField):
        raise RequestError(400, "the form has no file uploadfile")
    try:
        text = file.file.read().decode()
    except UnicodeDecodeError as error:
        raise RequestError(400, f"the pipeline is no text: {error}") from error
    pipeline = read_pipeline(text)
    name = request.query.get("display_name") or request.query.get("name") or pipeline["pipelineInfo"]["name"]
    if any(each["name"] == name for each in backend.records.all(PIPELINES, place)):
        raise RequestError(409, f"the pipeline {name} exists")
    version = str(uuid.uuid4())
    record = backend.records.add(PIPELINES, place, {"name": name, "version": version, "spec": pipeline})
    return _pipeline(record)


def _pipeline(record: Document) -> Document:
    return {"pipeline_id": record["id"], "display_name": record["name"], "created_at": record["created_at"]}


def _version(record: Document) -> Document:
    return {
        "pipeline_id": record["id"],
        "pipeline_version_id": record["version"],
        "display_name": record["name"],
        "created_at": record["created_at"],
        "pipeline_spec": record["spec"],
    }


async def _pipelines(backend: Backend, _request: web.Request, place: Place) -> Document:
    found = [_pipeline(each) for each in backend.records.all(PIPELINES, place)]
    return {"pipelines": found, "total_size": len(found)}


def _known_pipeline(backend: Backend, place: Place, identity: str) -> Document:
    record = backend.records.find(PIPELINES, place, identity)
    if record is None:
        raise RequestError(404, f"the pipeline {identity} does not exist")
    return record


async def _one_pipeline(backend: Backend, request: web.Request, place: Place) -> Document:
    return _pipeline(_known_pipeline(backend, place, request.match_info["id"]))


async def _versions(backend: Backend, request: web.Request, place: Place) -> Document:
    versions = [_version(_known_pipeline(backend, place, request.match_info["id"]))]
    return {"pipeline_versions": versions, "total_size": len(versions)}


async def _delete_pipeline(backend: Backend, request: web.Request, place: Place) -> Document:
    backend.records.remove(PIPELINES, place, _known_pipeline(backend, place, request.match_info["id"])["id"])
    return {}


def _experiment(record: Document) -> Document:
    return {"experiment_id": record["id"], "display_name": record["name"], "created_at": record["created_at"]}


async def _create_experiment(backend: Backend, request: web.Request, place: Place) -> Document:
    name = (await _body(request)).get("display_name")
    if not name:
        raise RequestError(400, "the experiment has no display_name")
    return _experiment(backend.records.add(EXPERIMENTS, place, {"name": name}))


async def _experiments(backend: Backend, _request: web.Request, place: Place) -> Document:
    found = [_experiment(each) for each in backend.records.all(EXPERIMENTS, place)]
    return {"experiments": found, "total_size": len(found)}


async def _create_run(backend: Backend, request: web.Request, place: Place) -> Document:
    body = await _body(request)
    name = body.get("display_name")
    if not name:
        raise RequestError(400, "the run has no display_name")
    reference = body.get("pipeline_version_reference") or {}
    spec = (
        _known_pipeline(backend, place, str(reference.get("pipeline_id")))["spec"]
        if reference
        else check_pipeline(body.get("pipeline_spec"))
    )
    parameters = (body.get("runtime_config") or {}).get("parameters") or {}
    run = Run(str(uuid.uuid4()), str(name), *place, parameters)
    return runs.shown(await runs.create(backend.api, workflow(spec, run)))


async def _runs(backend: Backend, _request: web.Request, place: Place) -> Document:
    found = [runs.shown(each) for each in await runs.of_application(backend.api, place)]
    return {"runs": found, "total_size": len(found)}


async def _known_run(backend: Backend, request: web.Request, place: Place) -> Document:
    identity = request.match_info["id"]
    for each in await runs.of_application(backend.api, place, identity):
        return each
    raise RequestError(404, f"the run {identity} does not exist")


async def _one_run(backend: Backend, request: web.Request, place: Place) -> Document:
    return runs.shown(await _known_run(backend, request, place))


async def _end_run(backend: Backend, request: web.Request, place: Place) -> Document:
    await runs.end(backend.api, await _known_run(backend, request, place))
    return {}


async def _delete_run(backend: Backend, request: web.Request, place: Place) -> Document:
    await runs.delete(backend.api, await _known_run(backend, request, place))
    return {}


_ID = "{id:[0-9a-f-]{36}}"
_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "pipelines/upload", _upload),
    ("GET", "pipelines", _pipelines),
    ("GET", f"pipelines/{_ID}", _one_pipeline),
    ("DELETE", f"pipelines/{_ID}", _delete_pipeline),
    ("GET", f"pipelines/{_ID}/versions", _versions),
    ("POST", "experiments", _create_experiment),
    ("GET", "experiments", _experiments),
    ("POST", "runs", _create_run),
    ("GET", "runs", _runs),
    ("GET", f"runs/{_ID}", _one_run),
    ("POST", f"runs/{_ID}:terminate", _end_run),
    ("DELETE", f"runs/{_ID}", _delete_run),
)
