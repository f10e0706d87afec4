"""What a pod of a fine-tuning job does: prepare the data set, train, and leave its small results in the volume.

It runs in the trainer's image: Python 3.9 and no packages. The job is described by ``job.json``, the trainer's
configuration is ``config.json``; both are mounted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dataset

CONFIGURATION = Path("/mnt/config")
STORAGE = Path("/mnt/storage")
OUTPUT = Path("/mnt/output")
APP = Path("/mnt/app")
LAUNCHER = "/app/accelerate_launch.py"
# numbers of the training, not weights
RESULTS = ("training_logs.jsonl", "training_params_and_metrics*.jsonl", "pip-freeze.txt")


def main(configuration: Path = CONFIGURATION, storage: Path = STORAGE, output: Path = OUTPUT) -> int:
    """Do it all; the trainer's exit code."""
    job = json.loads((configuration / "job.json").read_text(encoding="utf-8"))
    settings = json.loads((configuration / "config.json").read_text(encoding="utf-8"))
    wanted = job["dataset"]
    if wanted["name"]:
        source = storage / "dataset" / wanted["name"]
        prepared = dataset.prepare(source, storage / "dataset_cache", output, wanted)
        link(output / f"dataset{source.suffix}", prepared)
    if wanted["prepare_cache_only"]:
        return 0
    train = {"fms": train_fms, "ilab": train_ilab, "ray": train_ray}[job["workload"]]
    exit_code = train(settings, output)
    if os.environ.get("RANK", "0") == "0" and storage.is_dir():
        keep_results(output, storage / "output" / job["name"])
    return exit_code


def train_fms(settings: dict, output: Path) -> int:
    """FMS HF Tuning takes its configuration as a file."""
    file = output / "trainer.json"
    trainers = {key: value for key, value in settings.items() if key != "environment"}
    file.write_text(json.dumps(trainers, indent=2), encoding="utf-8")
    return run([sys.executable, LAUNCHER], {"SFT_TRAINER_CONFIG_JSON_PATH": str(file)})


def train_ilab(settings: dict, output: Path) -> int:
    """InstructLab prepares the data in each pod, then torchrun brings the pods together."""
    trainers = {key: value for key, value in settings.items() if key not in ("environment", "torchrun", "data_process")}
    source = next(output.glob("dataset.*"))
    prepared = Path(trainers["data_path"]).parent
    prepared.mkdir(parents=True, exist_ok=True)
    Path(trainers["output_dir"]).mkdir(parents=True, exist_ok=True)
    data = {
        "data_path": source,
        "data_output_path": prepared,
        "model_name_or_path": trainers["model_name_or_path"],
        **settings.get("data_process", {}),
    }
    failed = run([sys.executable, "-m", "instructlab.training.data_process", *options(data)])
    if failed:
        return failed
    meeting = {
        "nnodes": os.environ.get("PET_NNODES", "1"),
        "node_rank": os.environ.get("PET_NODE_RANK", "0"),
        "rdzv_id": 1,
        "rdzv_endpoint": f"{os.environ.get('MASTER_ADDR', 'localhost')}:{os.environ.get('MASTER_PORT', '23456')}",
        **settings.get("torchrun", {}),
    }
    return run(["torchrun", *options(meeting), "-m", "instructlab.training.main_ds", *options(trainers)])


def train_ray(_settings: dict, _output: Path) -> int:
    """On Ray's head, the program that drives the others reads the configuration where it is mounted."""
    return run([sys.executable, next(APP.glob("*.py"))])


def options(values: dict) -> list:
    """``--key=value`` of each; true is the flag alone, false and null are nothing, a list follows its flag."""
    words = []
    for key, value in values.items():
        if value is True:
            words.append(f"--{key}")
        elif isinstance(value, list):
            words += [f"--{key}", *map(str, value)]
        elif value is not None and value is not False:
            words.append(f"--{key}={value}")
    return words


def run(words: list, environment: dict | None = None) -> int:
    """Run a program with our output as its own; its exit code, 128 and the signal's number for a killed one."""
    print("+", " ".join(map(str, words)), flush=True)
    variables = {**os.environ, **(environment or {})}
    code = subprocess.run([str(word) for word in words], env=variables, check=False).returncode
    return code if code >= 0 else 128 - code


def link(path: Path, target: Path) -> None:
    """*path* leads to *target*; a container that is started again finds the link of before."""
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def keep_results(output: Path, kept: Path) -> None:
    """Copy the trainer's numbers and the list of installed packages to the volume, in place of a former job's."""
    with (output / "pip-freeze.txt").open("w", encoding="utf-8") as stream:
        subprocess.run([sys.executable, "-m", "pip", "freeze"], stdout=stream, stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for pattern in RESULTS:
        for path in output.rglob(pattern):
            shutil.copyfile(path, kept / path.name)


if __name__ == "__main__":
    sys.exit(main())
