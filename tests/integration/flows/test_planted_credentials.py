"""Credentials that nobody named as secrets, over every input of a run: they stand nowhere in what it leaves."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import yaml
from kubernetes import client, config

from tests.data.credentials import PLANTED
from tests.integration.conftest import PATIENCE_S, Lab

NAMESPACE = "psap-perf-scale-test"
ANNOTATIONS = {f"planted.example.com/n{number}": one.text for number, one in enumerate(PLANTED.values())}
URL = "https://robot:planted-setting-word@thanos.example.com"


def _leaks(folder: Path) -> list[str]:
    """Where something secret stands below *folder*; a table is searched as text."""
    wanted = {part for one in PLANTED.values() for part in one.secret} | {"planted-setting-word", "planted-server-word"}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [f"{path.relative_to(folder)}: {part}" for path in files for part in wanted if part in _text(path)]


def _text(path: Path) -> str:
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_csv()
    return path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def _annotated_node(lab: Lab) -> Iterator[None]:
    config.load_kube_config(str(lab.kubeconfig))
    core = client.CoreV1Api()
    name = core.list_node().items[0].metadata.name
    core.patch_node(name, {"metadata": {"annotations": ANNOTATIONS}})
    try:
        yield
    finally:
        core.patch_node(name, {"metadata": {"annotations": dict.fromkeys(ANNOTATIONS)}})


def _tell_events(lab: Lab, running: subprocess.Popen[str]) -> None:
    """Events about the first workload, a credential in the message of each."""
    config.load_kube_config(str(lab.kubeconfig))
    core, batch = client.CoreV1Api(), client.BatchV1Api()
    deadline = time.monotonic() + PATIENCE_S
    while not (jobs := batch.list_namespaced_job(NAMESPACE).items):
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    metadata = jobs[0].metadata
    about = {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "namespace": NAMESPACE,
        "name": metadata.name,
        "uid": metadata.uid,
    }
    for number, one in enumerate(PLANTED.values()):
        event = {
            "metadata": {"name": f"planted-{number}", "namespace": NAMESPACE},
            "involvedObject": about,
            "reason": "Planted",
            "type": "Warning",
            "message": f"it was said: {one.text}"[:1024],
            "firstTimestamp": metadata.creation_timestamp,
            "lastTimestamp": metadata.creation_timestamp,
        }
        core.create_namespaced_event(NAMESPACE, event)


def test_none_stands_in_a_run_its_report_its_payload_or_a_history(shared_lab: Lab, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    metadata = {"metadata": {"annotations": ANNOTATIONS}}
    patch = {**metadata, "spec": {"template": metadata}}
    words = ["-s", f"scale_test_patch={json.dumps(patch)}", "-e", json.dumps({"prometheus_url": URL})]
    words += ["-s", "scale_test_duration=10s"]
    command = ("perfdrv", "run", "scale_test", "--site", "lab", "-p", "smoke", *words)
    with _annotated_node(shared_lab), shared_lab.start(runs, *command) as running:
        _tell_events(shared_lab, running)
        said, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, said
    (run,) = (path for path in runs.iterdir() if path.is_dir() and not path.is_symlink())
    for asked in (("report", str(run)), ("payload", str(run), "--output", str(runs / "payload.json"))):
        done = shared_lab.run(runs, "perfanalysis", *asked)
        assert done.returncode == 0, done.stderr
    done = shared_lab.run(runs, "perfanalysis", "history", "add", str(run), "--into", str(runs / "history"))
    assert done.returncode == 0, done.stderr

    assert _leaks(runs) == []
    (events,) = run.rglob("events.jsonl")
    assert events.read_text().count("it was said: ") == len(PLANTED)
    (source,) = run.rglob("workload-00000.yml")
    assert yaml.safe_load(source.read_text())["metadata"]["annotations"].keys() >= ANNOTATIONS.keys()
    settings = yaml.safe_load((run / "settings.yml").read_text())["all"]
    assert settings["prometheus_url"]["value"] == "https://(secret)@thanos.example.com"


def test_none_of_the_server_stands_in_a_run(shared_lab: Lab, tmp_path: Path) -> None:
    document = yaml.safe_load(shared_lab.kubeconfig.read_text())
    cluster = document["clusters"][0]["cluster"]
    cluster["server"] = cluster["server"].replace("://", "://robot:planted-server-word@")
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    runs = tmp_path / "runs"
    words = ("run", "scale_test", "--site", "lab", "-p", "smoke", "-e", f"perf_kubeconfig={kubeconfig}", "-vvv")
    shared_lab.run(runs, "perfdrv", *words)
    assert _leaks(runs) == []
