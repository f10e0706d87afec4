"""Traces of load tests: from a real S3 server, to aiperf itself on a declared model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import ObjectOptions
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Load
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inputs import fetched
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab
from tests.standins.s3_server import CREDENTIALS, S3Server, s3_server

from .labs import Cluster, Labs, wait_for
from .workloads import PREFIX

NAME = "traces"
ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
# ms
TIMES = (0, 400, 1000)
TRACE = "".join(
    f"{json.dumps({'timestamp': at, 'input_length': 20, 'output_length': 5, 'hash_ids': [0]})}\n" for at in TIMES
)


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[S3Server]:
    with s3_server(tmp_path) as server, server.bucket("traces") as bucket:
        bucket.put("days/one.jsonl", TRACE.encode(), ObjectOptions())
        yield server


def load(trace: str) -> Load:
    roles = (ROLES / name for name in ("serving_run_load", "shared_load_report", "shared_load_job"))
    options = [option for role in roles for option in read_command(role, role).arguments]
    given = {"endpoint_url": "http://a", "model": "a", "trace_file": trace}
    return convert({**{option.short_name: option.default for option in options}, **given}, Load)


def test_trace_is_fetched_from_the_store(server: S3Server, tmp_path: Path) -> None:
    found = fetched(load("s3://traces/days/one.jsonl"), server.access, tmp_path)
    assert Path(found.trace_file).read_text() == TRACE
    with pytest.raises(UsageError, match=r"s3://traces/days/two\.jsonl does not exist"):
        fetched(load("s3://traces/days/two.jsonl"), server.access, tmp_path)


@dataclass(frozen=True)
class Model:
    """A declared model of a lab's servers."""

    lab: RunLab
    url: str

    def load(self, runs: Path, **words: str) -> Path:
        """Load the model by the command; return the folder of the results."""
        given = {"endpoint-url": self.url, "model": "declared", **words}
        options = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]
        environment = {**self.lab.environment(runs), "KUBECONFIG": str(self.lab.kubeconfig)}
        ran = self.lab.run_with(environment, "perfdrv", "toolbox", "serving", "run-load", *options)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (results,) = runs.rglob("artifacts/results")
        return results


@pytest.fixture(scope="module", name="model")
def _model(labs: Labs) -> Iterator[Model]:
    lab = labs.up(NAME, "--nodes", "1", "--with", "models")
    annotated = {f"{PREFIX}model": "{name: declared, ttft: 0.01, itl: 0.001}"}
    pod = {
        "metadata": {"name": "declared", "annotations": annotated},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    core = Cluster.of(lab).core
    core.create_namespaced_pod("default", pod)
    wait_for("it runs", lambda: core.read_namespaced_pod("declared", "default").status.phase == "Running")
    yield Model(RunLab(NAME, lab.kubeconfig), f"http://127.0.0.1:{lab.ports['models']}/default/declared")
    labs.run("down", "--name", NAME)


@pytest.mark.deep
def test_trace_of_a_store_is_replayed(model: Model, server: S3Server, tmp_path: Path) -> None:
    """`perfdrv generators install aiperf` first."""
    credentials = tmp_path / "credentials"
    credentials.write_text(CREDENTIALS)
    credentials.chmod(0o600)
    results = model.load(
        tmp_path / "runs",
        generator="aiperf",
        concurrency="0",
        trace_file="s3://traces/days/one.jsonl",
        s3_endpoint=server.endpoint,
        s3_credentials=f"file:{credentials}",
    )
    found = [json.loads(line) for line in (results / "profile_export.jsonl").read_text().splitlines()]
    assert [one.get("error") for one in found] == [None] * len(TIMES)


def write_otel(path: Path) -> None:
    """Write a conversation of two turns, with a pause of a second between them."""
    said = [{"role": "user", "content": "why"}, {"role": "assistant", "content": "so"}]
    asked = (said[:1], [*said, {"role": "user", "content": "and"}])
    spans = [
        {
            "span_id": f"{turn}",
            "trace_id": path.stem,
            "name": "chat tiny",
            "start_time": f"2026-11-30T10:00:0{2 * turn}Z",
            "end_time": f"2026-11-30T10:00:0{2 * turn + 1}Z",
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "tiny",
                "gen_ai.input.messages": json.dumps(messages),
                "gen_ai.output.messages": json.dumps(said[1:]),
                "gen_ai.usage.input_tokens": 10,
                "gen_ai.usage.output_tokens": 5,
            },
        }
        for turn, messages in enumerate(asked)
    ]
    path.write_text(json.dumps({"trace_id": path.stem, "spans": spans}))


def write_weka(path: Path) -> None:
    """Write the same as blocks of the KV cache; the second turn has the blocks of the first."""
    turns = [
        {"t": 2.0 * turn, "type": "n", "model": "tiny", "in": 32 * (turn + 1), "out": 5, "hash_ids": blocks}
        for turn, blocks in enumerate(([1, 2], [1, 2, 3, 4]))
    ]
    path.write_text(json.dumps({"id": path.stem, "models": ["tiny"], "block_size": 16, "requests": turns}))


@pytest.mark.deep
@pytest.mark.parametrize("write", [write_otel, write_weka])
def test_conversations_are_replayed_with_their_pauses(
    model: Model, tmp_path: Path, write: Callable[[Path], None]
) -> None:
    """`perfdrv generators install inference-perf` first."""
    for name in ("one", "two"):
        write(tmp_path / f"{name}.json")
    results = model.load(
        tmp_path / "runs",
        generator="inference-perf",
        api="chat",
        concurrency="0",
        trace_file=str(tmp_path / "*.json"),
        trace_format=write.__name__.removeprefix("write_"),
    )
    found = json.loads((results / "per_request_lifecycle_metrics.json").read_text())
    assert [one["error"] for one in found] == [None] * 4
    begun = sorted(one["start_time"] for one in found)
    # a second turn begins after the recorded pause
    assert begun[-1] - begun[0] >= 1
