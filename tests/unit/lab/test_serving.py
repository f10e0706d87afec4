"""The lab's simulated model servers: configured values are measured, over HTTP and in the report."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import numpy as np
import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Answer, AnswerError, Caller, Endpoint
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.client import Question, connect
from ansible_collections.psap.perf.plugins.modules.serving.ask import DOCUMENTATION
from perfanalysis.workloads.run_analysis import analyse_run
from perflab.cluster.model_pods import MODEL
from perflab.processes.ports import free_ports
from perflab.serving.listening import Pods
from perflab.serving.models import Latency, ServedModel, model_of
from perflab.serving.openai import application
from perflab.serving.pods import model_in, service_of
from perflab.serving.servers import Servers
from perflab.serving.tgis import serve_tgis

from tests.standins.load_generators.load_client import load, load_by_grpc, write

pytestmark = pytest.mark.slow

Result = TypeVar("Result")
# The verb's default request
ASK = yaml.safe_load(DOCUMENTATION)["options"]
REQUEST, ANSWER = ASK["request"]["default"], ASK["answer"]["default"]


def serve(model: ServedModel, use: Callable[[str], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        servers = Servers()
        servers.set("default/pod", f"default/{model.name}", model)
        async with TestServer(application(servers)) as server:
            return await use(str(server.make_url("")).rstrip("/"))

    return asyncio.run(run())


def test_configured_latencies_match_the_report(tmp_path: Path) -> None:
    """The server is never early; the upper bound is wide because the machine determines how late it is."""
    model = ServedModel("tiny", Latency(0.2), Latency(0.02), concurrency=4, failing_percent=10)
    results = serve(model, lambda url: load(url, "tiny", users=4, requests=20, tokens=5))
    write(tmp_path / "000__t" / "artifacts", results)
    found = {value.name: value for value in analyse_run(tmp_path, tmp_path / "report").analyses[0].kpis}
    assert found["requests_failed"].number == 2
    ttft, itl, latency = (found[f"{name}_p50"].number or 0 for name in ("ttft", "itl", "request_latency"))
    # Its clock and the client's may differ by some µs.
    assert 0.199 <= ttft < 2.0
    assert latency >= 0.279
    # A late token shortens the next interval, but not the sum.
    assert latency - ttft == pytest.approx(4 * 0.02, abs=0.5)
    assert 0 < itl < 0.5


def serve_by_grpc(servers: Servers, use: Callable[[str], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        address = f"127.0.0.1:{free_ports(['grpc'])['grpc']}"
        async with serve_tgis(servers, address):
            return await use(address)

    return asyncio.run(run())


def test_configured_latencies_match_by_grpc(tmp_path: Path) -> None:
    servers = Servers()
    servers.set("n/pod", "n/tiny", ServedModel("tiny", Latency(0.2), Latency(0.02), concurrency=4, failing_percent=10))
    results = serve_by_grpc(servers, lambda at: load_by_grpc(at, "tiny", users=4, requests=20, tokens=5))
    write(tmp_path / "000__t" / "artifacts", results)
    found = {value.name: value for value in analyse_run(tmp_path, tmp_path / "report").analyses[0].kpis}
    assert found["requests_failed"].number == 2
    assert 0.199 <= (found["ttft_p50"].number or 0) < 2.0
    assert (found["request_latency_p50"].number or 0) >= 0.279
    assert {(one.get("input_tokens"), one.get("output_tokens")) for one in results["results"]} == {(3, 5), (None, None)}
    assert 'vllm:generation_tokens_total{model_name="tiny"} 90.0' in servers.registry.text.decode().splitlines()


@pytest.mark.parametrize("model", ["tiny", "other"])
def test_grpc_counts_tokens_and_reports_an_unknown_model(model: str) -> None:
    servers = Servers()
    servers.set("n/pod", "n/tiny", ServedModel("tiny", Latency(0.0), Latency(0.0)))
    question = Question("fmaas.GenerationService/Generate", "", REQUEST, ANSWER)

    async def ask(address: str) -> Any:
        host, port = address.split(":")

        def call() -> Any:
            with connect(Endpoint("http", host, int(port)), question, Caller(20.0)) as connection:
                return connection.complete(model, "two words", 3)

        return await asyncio.to_thread(call)

    if model == "tiny":
        assert serve_by_grpc(servers, ask) == Answer("token token token ", 2, 3)
    else:
        with pytest.raises(AnswerError, match="does not respond: no pod serves 'other'"):
            serve_by_grpc(servers, ask)


def test_grpc_response_is_cut_off_when_its_pod_ends() -> None:
    servers = Servers()
    servers.set("n/pod", "n/tiny", ServedModel("tiny", Latency(3600.0)))

    async def use(address: str) -> dict[str, Any]:
        asked = asyncio.create_task(load_by_grpc(address, "tiny", users=1, requests=1, tokens=2))
        while not any(one.answering for one in servers.of("n/tiny")):
            await asyncio.sleep(0.01)
        servers.set("n/pod", "n/tiny", None)
        return await asked

    (record,) = serve_by_grpc(servers, use)["results"]
    assert (record["error_code"], record["error_text"]) == (14, "the pod has ended")


def test_requests_above_the_concurrency_wait(tmp_path: Path) -> None:
    model = ServedModel("tiny", Latency(0.1), Latency(0.0), concurrency=1)
    results = serve(model, lambda url: load(url, "tiny", users=3, requests=3, tokens=1))
    ttft = sorted(one["ttft"] for one in results["results"])
    assert [least <= one for least, one in zip((99, 199, 299), ttft, strict=True)] == [True] * 3


def test_metrics_are_those_of_vllm() -> None:
    async def use(url: str) -> tuple[str, Any, int]:
        async with aiohttp.ClientSession() as session:
            body = {"model": "tiny", "messages": [{"role": "user", "content": "two words"}], "max_tokens": 3}
            async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                answer = await response.json()
            async with session.post(f"{url}/v1/completions", json={**body, "model": "other"}) as response:
                status = response.status
            async with session.get(f"{url}/metrics") as response:
                return await response.text(), answer, status

    text, answer, status = serve(ServedModel("tiny", Latency(0.0), Latency(0.0)), use)
    assert answer["usage"] == {
        "prompt_tokens": 2,
        "completion_tokens": 3,
        "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    assert answer["choices"][0]["message"]["content"].split() == ["token"] * 3
    assert status == 404
    lines = text.splitlines()
    assert 'vllm:generation_tokens_total{model_name="tiny"} 3.0' in lines
    assert 'vllm:time_to_first_token_seconds_count{model_name="tiny"} 1.0' in lines
    assert 'vllm:inter_token_latency_seconds_count{model_name="tiny"} 2.0' in lines
    assert 'vllm:num_requests_running{model_name="tiny"} 0.0' in lines


def test_spread_is_drawn_around_the_median() -> None:
    chance = random.Random(1)
    drawn = [Latency(0.2, 0.3).drawn(chance) for _ in range(4000)]
    assert np.median(drawn) == pytest.approx(0.2, rel=0.03)
    assert np.std(np.log(drawn)) == pytest.approx(0.3, rel=0.05)
    assert list(ServedModel("m", Latency(1.0), Latency(0.5)).times(3, chance)) == [1.0, 1.5, 2.0]


async def completion(url: str, model: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/completions", json={"model": model, "prompt": "a"}) as response,
    ):
        return response.status, await response.text()


async def health(url: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/health") as response:
        return response.status


def test_service_answers_while_it_has_a_pod() -> None:
    async def run() -> None:
        servers = Servers()
        async with TestServer(application(servers)) as server:
            url = f"{str(server.make_url('')).rstrip('/')}/default/tiny"
            assert await completion(url, "granite") == (503, "no healthy upstream")
            servers.set("default/a", "default/tiny", ServedModel("granite", Latency(0.0), Latency(0.0)))
            assert (await completion(url, "granite"))[0] == 200
            assert await health(url) == await health(str(server.make_url("")).rstrip("/")) == 200
            assert (await completion(url, "other"))[0] == 404
            assert (await completion(url.replace("tiny", "another"), "granite"))[0] == 503
            servers.set("default/a", "default/tiny", None)
            assert (await completion(url, "granite"))[0] == 503
            assert await health(url) == 503

    asyncio.run(run())


def test_response_is_cut_off_when_its_pod_ends() -> None:
    async def run() -> None:
        servers = Servers()
        servers.set("default/a", "default/tiny", ServedModel("tiny", Latency(3600.0)))
        async with TestServer(application(servers)) as server:
            asked = asyncio.create_task(completion(str(server.make_url("")).rstrip("/"), "tiny"))
            while not any(one.answering for one in servers.of("default/tiny")):
                await asyncio.sleep(0.01)
            servers.set("default/a", "default/tiny", None)
            with pytest.raises(aiohttp.ClientError):
                await asked
            text = servers.registry.text.decode()
            assert 'vllm:num_requests_running{model_name="tiny"} 0.0' in text

    asyncio.run(run())


def test_response_to_a_gone_client_frees_its_slot() -> None:
    async def gone(_place: int) -> None:
        raise ConnectionResetError

    async def run() -> None:
        servers = Servers()
        servers.set("n/pod", "n/tiny", ServedModel("tiny", Latency(0.0), Latency(0.0), concurrency=1))
        (serving,) = servers.of("n/tiny")
        with pytest.raises(ConnectionResetError) as raised:
            await serving.answer(serving.generate(["why"], 2, gone))
        # Also while a caller inspects the error, which holds its frames
        assert (raised.value is not None, serving.slots.locked(), serving.answering) == (True, False, set())
        assert 'vllm:num_requests_running{model_name="tiny"} 0.0' in servers.registry.text.decode()

    asyncio.run(run())


def pod(annotation: str | None, ready: str = "True", **metadata: Any) -> dict[str, Any]:
    labels = {"serving.kserve.io/inferenceservice": "tiny"}
    annotations = {} if annotation is None else {MODEL: annotation}
    base = {"namespace": "n", "name": "tiny-predictor-1", "labels": labels, "annotations": annotations}
    return {"metadata": {**base, **metadata}, "status": {"conditions": [{"type": "Ready", "status": ready}]}}


async def answered(url: str) -> float:
    """Return the number of successful requests by the metrics of a server."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as response:
        lines = (await response.text()).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("vllm:request_success_total{"))


def test_each_ready_pod_answers_at_its_address() -> None:
    async def run() -> None:
        servers = Servers()
        runner = web.AppRunner(application(servers))
        await runner.setup()
        port = free_ports(["models"])["models"]
        pods = Pods(servers, runner, port)
        listening = {name: pod("{ttft: 0, itl: 0}", name=name) for name in ("a", "b")}
        for place, each in enumerate(listening.values(), start=1):
            each["status"]["podIP"] = f"10.131.255.{place}"
            await pods.changed(None, each)
        assert (await completion(f"http://127.131.255.1:{port}", "tiny"))[0] == 200
        served = servers.of("127.131.255.1")
        assert [one.asked for one in served] == [1]
        assert [one.asked for one in servers.of("n/tiny")] == [1, 0]
        assert [await answered(f"http://{at}:{port}") for at in ("127.131.255.1", "127.131.255.2")] == [1, 0]
        await pods.changed(listening["a"], None)
        with pytest.raises(aiohttp.ClientConnectorError):
            await health(f"http://127.131.255.1:{port}")
        assert await health(f"http://127.131.255.2:{port}") == 200
        # Another pod of this name
        again = {**listening["b"], "status": {**listening["b"]["status"], "podIP": "10.131.255.3"}}
        await pods.changed(listening["b"], again)
        assert await health(f"http://127.131.255.3:{port}") == 200
        with pytest.raises(aiohttp.ClientConnectorError):
            await health(f"http://127.131.255.2:{port}")
        await runner.cleanup()

    asyncio.run(run())


def test_ready_pod_serves_its_configuration() -> None:
    declared = pod("{name: granite, ttft: 0.1, concurrency: 2}")
    assert service_of(declared) == "n/tiny"
    assert model_in(declared) == ServedModel("granite", Latency(0.1), concurrency=2)
    assert model_in(pod("")) == ServedModel("tiny")
    assert model_in(pod(None)) is None
    assert model_in(pod("", ready="False")) is None
    assert model_in(pod("", deletionTimestamp="2026-11-25T00:00:00Z")) is None
    assert model_in(None) is None


@pytest.mark.parametrize(
    ("text", "message"), [("{speed: 1}", "allowed keys are"), ("{", "serves nothing"), ("a", "no attribute")]
)
def test_pod_with_an_invalid_configuration_serves_nothing(
    text: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert model_in(pod(text)) is None
    assert message in caplog.text


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"speed": 1},
            "there: allowed keys are answer_tokens, cached_tokens, concurrency, failing_percent, itl, prefill, ttft",
        ),
        ({"ttft": -1}, "there, ttft: must have median_s in seconds"),
        ({"ttft": {"median_s": 1, "spread": "x"}}, "there, ttft: must have median_s in seconds"),
        ({"concurrency": 0}, "there, concurrency: must be a whole number from 1"),
    ],
)
def test_invalid_configuration_is_one_sentence(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model_of("there", "a", parts)


def test_configuration_is_parsed() -> None:
    declared = {"ttft": {"median_s": 0.1, "spread": 0.2}, "itl": 0.01}
    assert model_of("there", "a", declared) == ServedModel("a", Latency(0.1, 0.2), Latency(0.01))
    assert model_of("there", "b", {}) == ServedModel("b")
