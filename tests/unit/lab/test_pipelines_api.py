"""The API of Data Science Pipelines: pipelines become Workflows, for users with the right to it only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from perflab.cluster.api import Api, Document
from perflab.serving.pipelines.api import Backend, application
from perflab.serving.pipelines.compiling import PipelineError, Run, check_pipeline, read_pipeline, workflow
from perflab.serving.pipelines.records import Records

from .memory_api import MemoryApi

GROUP = "/apis/datasciencepipelinesapplications.opendatahub.io/v1/namespaces/project"
WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/project/workflows"
RUN = Run("1234", "first run", "project", "sample", {})
Call = Callable[..., Awaitable[tuple[int, Any]]]


def pipeline(**task: Any) -> Document:
    """Return a pipeline of the tasks `greet` and, after it, `end`; *task* are fields of the first."""
    container = {"image": "image", "command": ["echo"], "args": ["{{$.inputs.parameters['text']}}"]}
    text = {"parameters": {"text": {"componentInputParameter": "word"}}}
    return {
        "schemaVersion": "2.1.0",
        "pipelineInfo": {"name": "My pipeline"},
        "root": {
            "inputDefinitions": {"parameters": {"word": {"parameterType": "STRING", "defaultValue": "hello"}}},
            "dag": {
                "tasks": {
                    "greet": {"componentRef": {"name": "comp"}, "inputs": text, **task},
                    "end": {"componentRef": {"name": "comp"}, "dependentTasks": ["greet"]},
                }
            },
        },
        "components": {
            "comp": {"executorLabel": "exec", "inputDefinitions": {"parameters": {"text": {"defaultValue": "bye"}}}}
        },
        "deploymentSpec": {"executors": {"exec": {"container": container}}},
    }


def test_workflow_runs_the_tasks_in_order_with_their_parameters() -> None:
    made = workflow(pipeline(), RUN)
    root, greet, end = made["spec"]["templates"]
    assert root["dag"]["tasks"][1] == {"name": "end", "template": "end", "dependencies": ["greet"]}
    assert greet["container"] == {"image": "image", "command": ["echo"], "args": ["hello"]}
    assert end["container"]["args"] == ["bye"]
    assert made["metadata"]["generateName"] == "my-pipeline-"
    assert made["metadata"]["annotations"]["pipelines.kubeflow.org/run_name"] == "first run"
    assert made["metadata"]["labels"]["pipeline/runid"] == "1234"
    assert made["spec"]["serviceAccountName"] == "pipeline-runner-sample"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("not a pipeline", "no schemaVersion 2"),
        ({"schemaVersion": "2.1.0"}, "the pipeline is incomplete: 'root'"),
        (pipeline(triggerPolicy={"condition": "true"}), "triggerPolicy of the task greet"),
        (pipeline(inputs={"artifacts": {"data": {}}}), "artifacts of tasks"),
        (pipeline(inputs={"parameters": {"text": {"taskOutputParameter": {}}}}), "a result of another task"),
    ],
)
def test_pipeline_that_the_lab_does_not_emulate_is_refused(found: Any, message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        check_pipeline(found)


def test_text_that_is_no_yaml_is_refused() -> None:
    with pytest.raises(PipelineError, match="no YAML"):
        read_pipeline("a: [")


def test_parameters_of_a_run_are_checked() -> None:
    unknown = Run("1", "run", "project", "sample", {"other": 1})
    with pytest.raises(PipelineError, match="has no parameters other"):
        workflow(pipeline(), unknown)
    required = pipeline()
    del required["root"]["inputDefinitions"]["parameters"]["word"]["defaultValue"]
    with pytest.raises(PipelineError, match="no values for the parameters word"):
        workflow(required, RUN)


class ReviewingApi(MemoryApi):
    """An API server that knows the tokens `user`, who may do everything, and `guest`, who may do nothing."""

    async def create(self, path: str, body: Document) -> Document | None:
        if path.endswith("tokenreviews"):
            name = body["spec"]["token"]
            return {"status": {"authenticated": name in ("user", "guest"), "user": {"username": name}}}
        if path.endswith("subjectaccessreviews"):
            return {"status": {"allowed": body["spec"]["user"] == "user"}}
        return await super().create(path, body)

    async def get_present(self, path: str) -> Document | None:
        return self.find(path)


def serve(folder: Path, use: Callable[[MemoryApi, Call], Awaitable[None]], ready: str = "True") -> None:
    """Serve an application, and call *use* with a function that calls its API."""
    api = ReviewingApi()
    status = {"conditions": [{"type": "APIServerReady", "status": ready}]}
    api.put(f"{GROUP}/datasciencepipelinesapplications", {"metadata": {"name": "sample"}, "status": status})

    async def run() -> None:
        backend = Backend(cast(Api, api), Records(folder / "pipelines.json"))
        async with TestServer(application(backend)) as server, aiohttp.ClientSession() as session:

            async def call(method: str, path: str, token: str = "user", **more: Any) -> tuple[int, Any]:
                url = server.make_url(path if path.startswith("/") else f"/project/sample/apis/v2beta1/{path}")
                headers = {"Authorization": f"Bearer {token}", **more.pop("headers", {})}
                async with session.request(method, url, headers=headers, **more) as answer:
                    return answer.status, await answer.json()

            await use(api, call)

    asyncio.run(run())


def form() -> aiohttp.FormData:
    data = aiohttp.FormData()
    data.add_field("uploadfile", json.dumps(pipeline()).encode(), filename="pipeline.yaml")
    return data


def test_run_of_an_uploaded_pipeline_has_the_state_of_its_workflow(tmp_path: Path) -> None:
    async def use(api: MemoryApi, call: Call) -> None:
        status, uploaded = await call("POST", "pipelines/upload?name=greeting", data=form())
        assert (status, uploaded["display_name"]) == (200, "greeting")
        identity = uploaded["pipeline_id"]
        assert (await call("POST", "pipelines/upload?name=greeting", data=form()))[0] == 409
        _, versions = await call("GET", f"pipelines/{identity}/versions")
        version = versions["pipeline_versions"][0]["pipeline_version_id"]
        reference = {"pipeline_id": identity, "pipeline_version_id": version}
        body = {"display_name": "first run", "pipeline_version_reference": reference}
        body["runtime_config"] = {"parameters": {"word": "hi"}}
        status, run = await call("POST", "runs", json=body)
        assert (status, run["state"]) == (200, "PENDING")
        ((key, made),) = ((key, each) for key, each in api.objects.items() if key[2] == "workflows")
        assert made["spec"]["templates"][1]["container"]["args"] == ["hi"]
        for phase, state in (("Running", "RUNNING"), ("Error", "FAILED"), ("Succeeded", "SUCCEEDED")):
            await api.patch(f"{WORKFLOWS}/{key[3]}", {"status": {"phase": phase}})
            assert (await call("GET", f"runs/{run['run_id']}"))[1]["state"] == state
        assert (await call("GET", "runs"))[1]["total_size"] == 1
        await call("DELETE", f"runs/{run['run_id']}")
        assert (await call("GET", f"runs/{run['run_id']}"))[0] == 404

    serve(tmp_path, use)


def test_terminated_run_is_canceled(tmp_path: Path) -> None:
    async def use(api: MemoryApi, call: Call) -> None:
        _, run = await call("POST", "runs", json={"display_name": "run", "pipeline_spec": pipeline()})
        await call("POST", f"runs/{run['run_id']}:terminate")
        ((key, made),) = ((key, each) for key, each in api.objects.items() if key[2] == "workflows")
        assert made["spec"]["shutdown"] == "Terminate"
        assert (await call("GET", f"runs/{run['run_id']}"))[1]["state"] == "CANCELING"
        await api.patch(f"{WORKFLOWS}/{key[3]}", {"status": {"phase": "Failed"}})
        assert (await call("GET", f"runs/{run['run_id']}"))[1]["state"] == "CANCELED"

    serve(tmp_path, use)


def test_request_needs_a_user_with_the_right(tmp_path: Path) -> None:
    async def use(_api: MemoryApi, call: Call) -> None:
        answers = [await call("GET", "runs", token=token) for token in ("", "unknown", "guest", "user")]
        assert [status for status, _ in answers] == [401, 401, 403, 200]
        assert answers[2][1]["message"] == "guest may not access the API of project/sample"

    serve(tmp_path, use)


def test_application_is_found_by_the_name_of_its_service(tmp_path: Path) -> None:
    async def use(_api: MemoryApi, call: Call) -> None:
        hosts = ("ds-pipeline-sample.project.svc.cluster.local:8888", "ds-pipeline-other.project.svc", "localhost")
        answers = [await call("GET", "/apis/v2beta1/runs", headers={"Host": host}) for host in hosts]
        assert [status for status, _ in answers] == [200, 404, 404]

    serve(tmp_path, use)


def test_api_answers_after_its_server_is_ready(tmp_path: Path) -> None:
    async def use(_api: MemoryApi, call: Call) -> None:
        assert (await call("GET", "runs"))[0] == 503

    serve(tmp_path, use, ready="False")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("runs", "no JSON", 400),
        ("runs", "[]", 400),
        ("runs", "{}", 400),
        ("runs", '{"display_name": "run"}', 400),
        ("runs", '{"display_name": "run", "pipeline_version_reference": {"pipeline_id": "none"}}', 404),
        ("pipelines/upload", "{}", 400),
        ("experiments", "{}", 400),
    ],
)
def test_invalid_request_is_refused(path: str, body: str, status: int, tmp_path: Path) -> None:
    async def use(_api: MemoryApi, call: Call) -> None:
        assert (await call("POST", path, data=body))[0] == status

    serve(tmp_path, use)


def test_pipelines_are_known_after_a_restart(tmp_path: Path) -> None:
    async def upload(_api: MemoryApi, call: Call) -> None:
        await call("POST", "pipelines/upload", data=form())
        await call("POST", "experiments", json={"display_name": "Default"})

    async def read(_api: MemoryApi, call: Call) -> None:
        (known,) = (await call("GET", "pipelines"))[1]["pipelines"]
        assert known["display_name"] == "My pipeline"
        assert (await call("GET", "experiments"))[1]["total_size"] == 1
        await call("DELETE", f"pipelines/{known['pipeline_id']}")
        assert (await call("GET", f"pipelines/{known['pipeline_id']}"))[0] == 404

    serve(tmp_path, upload)
    serve(tmp_path, read)
