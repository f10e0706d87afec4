"""Result trees of MatrixBenchmarking with the directories that TOPSAIL's commands leave, written for the tests."""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from tests.data.kubernetes_lists import BEGIN, job, pod, stamp, write_list

NONE: Mapping[str, Any] = {}
LOGS = Path(__file__).with_name("training_logs")


def write_test(folder: Path, settings: Mapping[str, Any] | str, exit_code: str | None = "0\n") -> Path:
    """Write a test with its settings: current ones as a mapping, old ones as the text of the file `settings`."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(settings, str):
        (folder / "settings").write_text(settings)
    else:
        (folder / "settings.yaml").write_text(yaml.safe_dump(dict(settings)))
    if exit_code is not None:
        (folder / "exit_code").write_text(exit_code)
    return folder


def write_load(test: Path, count: int, wait: float = 2, ends: bool = True) -> Path:
    """Write the artifacts of a scheduler's load: jobs of one pod that wait this long for a node."""
    folder = test / "000__scheduler__generate_load"
    jobs = [job(f"job-{n}", n, n + wait, n + wait + 10) for n in range(count)]
    pods = [pod(f"job-{n}-worker-0", n, n + wait, n + wait + 1, n + wait + 10) for n in range(count)]
    write_list(folder / "pytorchjob.json", jobs)
    write_list(folder / "pods.json", pods)
    if ends:
        marks = [("start", -5.0), ("end", count + wait + 15)]
        items = [{"metadata": {"name": name, "creationTimestamp": stamp(after)}} for name, after in marks]
        (folder / "start_end_cm.yaml").write_text(yaml.safe_dump({"items": items}))
    return folder


def write_environment(test: Path, rhoai: str = "2.13.0") -> None:
    """Write the artifacts of capturing the cluster's state."""
    folder = test / "001__rhods__capture_state"
    folder.mkdir(parents=True)
    (folder / "ocp_version.yml").write_text('openshiftVersion: "4.16.3"\n')
    (folder / "rhods.version").write_text(f"{rhoai}\n")
    (folder / "rhods.createdAt").write_text("2026-01-09T11:12:13Z\n")
    offered = {"cpu": "8", "memory": "16Gi"}
    write_list(
        folder / "nodes.json",
        [{"kind": "Node", "metadata": {"name": f"n{n}"}, "status": {"allocatable": offered}} for n in range(4)],
    )
    (test / ".uuid").write_text("0d3b2a4e-1111-4222-8333-944455566677\n")
    catalog = {"catalog": {"version_name": "rc2"}}
    (test / "config.yaml").write_text(yaml.safe_dump({"rhods": catalog, "ci_presets": {"names": ["nightly", "metal"]}}))


def write_training(test: Path, gpus: int, log: str = "fms_whole.log", exit_code: int = 0) -> Path:
    """Write the artifacts of a fine-tuning job."""
    folder = test / "000__fine_tuning__run_fine_tuning_job"
    (folder / "src").mkdir(parents=True)
    configuration = {"per_device_train_batch_size": 4, "num_train_epochs": 1.0, "logging_steps": 1}
    (folder / "src/config_final.json").write_text(json.dumps(configuration, indent=2))
    given = {
        "name": "ft",
        "namespace": "fine-tuning-testing",
        "workload": "fms",
        "model_name": "tiny-1b",
        "dataset_name": "replies.json",
        "dataset_replication": 0.5,
        "gpu": gpus,
        "pod_count": 1,
        "container_image": "example.test/fms:1",
        "hyper_parameters": {"r": 4},
    }
    variables = {f"fine_tuning_run_fine_tuning_job_{name}": value for name, value in given.items()}
    (folder / "_ansible.play.yaml").write_text(yaml.safe_dump([{"name": "play", "vars": variables}]))
    artifacts = folder / "artifacts"
    artifacts.mkdir()
    shutil.copy(LOGS / log, artifacts / "pod.log")
    (artifacts / "pod.json").write_text(json.dumps(pod("ft-master-0", 0, 2, 3, 63, exit_code=exit_code)))
    return folder


def load_tree(root: Path) -> Path:
    """Write two sizes, each with two repetitions; versions of one kind, settings of all above."""
    for size in (3, 5):
        for repetition in (1, 2):
            test = write_test(root / f"load/{size}/{repetition:03d}__run", {"count": size, "@repetition": repetition})
            write_load(test, size, wait=2 * repetition)
            write_environment(test)
    (root / "settings.common.yaml").write_text("scheduler: kueue\ncount: 0\n")
    return root


def training_tree(root: Path) -> Path:
    """Write fine tuning on one, two and four GPUs; the last one failed."""
    for gpus in (1, 2, 4):
        test = write_test(root / f"{gpus:03d}__gpus", {"gpu": gpus, "model_name": "tiny-1b"}, f"{int(gpus == 4)}\n")
        write_training(test, gpus, exit_code=int(gpus == 4))
        write_environment(test, rhoai=f"2.1{gpus}.0")
    return root


def lts_payload(
    uuid: str, version: str, throughput: float, day: int = 1, kpis: Mapping[str, Any] = NONE
) -> dict[str, Any]:
    """Return a payload as a workload exports it for long-term storage."""
    begin = BEGIN + timedelta(days=day)
    metadata = {
        "lts_schema_version": "1.0",
        "status": "Valid",
        "start": begin.isoformat(),
        "end": (begin + timedelta(hours=1)).isoformat(),
        "settings": {"model_name": "tiny-1b", "virtual_users": 4, "rhoai_version": version, "nested": {"batch": 8}},
        "test_uuid": uuid,
        "urls": {"run": "https://ci.example.test/run/1"},
        "ocp_version": "4.16.3",
        "config": "secret: hidden\n",
        "exit_code": 0,
    }
    given: dict[str, Mapping[str, Any]] = {
        "throughput": {"help": "Tokens a second", "unit": "tokens/s", "value": throughput, "lower_better": False},
        **kpis,
    }
    stamped = {name: {**kpi, "@timestamp": begin.isoformat(), "test_uuid": uuid} for name, kpi in given.items()}
    return {"$schema": "urn:lts", "metadata": metadata, "results": {"series": [1, 2]}, "kpis": stamped}


def write_loads(root: Path, tests: int, jobs: int) -> Path:
    """Write tests with this many jobs of one pod each, five a second, that wait a random time for a node."""
    draw = random.Random(7)
    for number in range(tests):
        test = write_test(root / f"load/{number:03d}__run", {"run": number, "count": jobs})
        folder = test / "000__scheduler__generate_load"
        begun = [n // 5 for n in range(jobs)]
        bound = [at + draw.randint(1, 20) for at in begun]
        ended = [at + draw.randint(9, 15) for at in bound]
        rows = list(zip(range(jobs), begun, bound, ended, strict=True))
        write_list(folder / "pytorchjob.json", (job(f"job-{n}", at, on, end) for n, at, on, end in rows))
        write_list(folder / "pods.json", (pod(f"job-{n}-worker-0", at, on, on, end) for n, at, on, end in rows))
        write_environment(test)
    return root


def main() -> None:
    """Write a tree of loads and print its path."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tests", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=100)
    given = parser.parse_args()
    print(write_loads(given.folder, given.tests, given.jobs))


if __name__ == "__main__":
    main()
