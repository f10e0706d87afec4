"""Traces of load tests: from a real S3 server, to aiperf itself on a declared model."""

from __future__ import annotations

import json
from collections.abc import Iterator
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


@pytest.mark.deep
def test_trace_of_a_store_is_replayed(labs: Labs, server: S3Server, tmp_path: Path) -> None:
    """`perfdrv generators install aiperf` first."""
    lab = labs.up(NAME, "--nodes", "1", "--with", "models")
    annotated = {f"{PREFIX}model": "{name: declared, ttft: 0.01, itl: 0.001}"}
    pod = {
        "metadata": {"name": "declared", "annotations": annotated},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    core = Cluster.of(lab).core
    core.create_namespaced_pod("default", pod)
    wait_for("it runs", lambda: core.read_namespaced_pod("declared", "default").status.phase == "Running")
    credentials = tmp_path / "credentials"
    credentials.write_text(CREDENTIALS)
    credentials.chmod(0o600)
    words = {
        "generator": "aiperf",
        "endpoint-url": f"http://127.0.0.1:{lab.ports['models']}/default/declared",
        "model": "declared",
        "concurrency": "0",
        "trace-file": "s3://traces/days/one.jsonl",
        "s3-endpoint": server.endpoint,
        "s3-credentials": f"file:{credentials}",
    }
    options = [word for name, value in words.items() for word in (f"--{name}", value)]
    run_lab = RunLab(NAME, lab.kubeconfig)
    environment = {**run_lab.environment(tmp_path / "runs"), "KUBECONFIG": str(lab.kubeconfig)}
    ran = run_lab.run_with(environment, "perfdrv", "toolbox", "serving", "run-load", *options)
    labs.run("down", "--name", NAME)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (records,) = (tmp_path / "runs").rglob("profile_export.jsonl")
    found = [json.loads(line) for line in records.read_text().splitlines()]
    assert [one.get("error") for one in found] == [None] * len(TIMES)
