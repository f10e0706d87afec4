"""The program in the pods: it prepares the data set and starts the trainer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROLES = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf/roles"
FILES = ROLES / "shared_fine_tuning_job/files"
RECORDS = [{"instruction": f"say {number}", "input": "", "output": str(number)} for number in range(4)]
AS_IS: dict[str, Any] = {"name": "alpaca.json", "replication": 1.0, "transform": "", "prefer_cache": True}


@pytest.fixture(name="program")
def _program() -> Iterator[ModuleType]:
    """Import the entrypoint from its folder, as Python does for a main program."""
    sys.path.insert(0, str(FILES))
    names = ("entrypoint", "dataset", "convert_alpaca", "convert_alpaca_to_messages")
    try:
        import entrypoint  # type: ignore[import-not-found]  # a file of the role, in no package

        yield entrypoint
    finally:
        sys.path.remove(str(FILES))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    path = tmp_path / "storage/dataset/alpaca.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(RECORDS))
    return path


@pytest.mark.parametrize(("times", "count"), [(1, 4), (2, 8), (2.5, 10), (0.5, 2), (0.25, 1)])
def test_records_are_replicated_as_requested(program: ModuleType, source: Path, times: float, count: int) -> None:
    made = program.dataset.converted(source, {**AS_IS, "replication": times})
    assert len(made) == count
    assert made[: min(count, 4)] == RECORDS[: min(count, 4)]


def test_data_set_without_changes_is_used_in_place(program: ModuleType, source: Path, tmp_path: Path) -> None:
    assert program.dataset.prepare(source, tmp_path / "cache", tmp_path, AS_IS) == source


def test_prepared_data_set_is_reused_until_its_source_changes(
    program: ModuleType, source: Path, tmp_path: Path
) -> None:
    wanted = {**AS_IS, "transform": "convert_alpaca"}
    first = program.dataset.prepare(source, tmp_path / "cache", tmp_path, wanted)
    assert json.loads(first.read_text())[1] == {"output": "### Text: say 1\n\n### Label: 1"}
    first.write_text("[]")
    assert program.dataset.prepare(source, tmp_path / "cache", tmp_path, wanted) == first
    assert first.read_text() == "[]"
    assert program.dataset.prepare(source, tmp_path / "cache", tmp_path, {**wanted, "replication": 2.0}) != first
    source.write_text(json.dumps(RECORDS * 2))
    again = program.dataset.prepare(source, tmp_path / "cache", tmp_path, wanted)
    assert again != first
    assert len(json.loads(again.read_text())) == 8
    assert [path.name for path in again.parent.glob(".*")] == []


def test_data_set_is_prepared_next_to_the_output_without_a_cache(
    program: ModuleType, source: Path, tmp_path: Path
) -> None:
    wanted = {**AS_IS, "replication": 2.0, "prefer_cache": False}
    made = program.dataset.prepare(source, tmp_path / "cache", tmp_path / "output", wanted)
    assert made.parent == tmp_path / "output"
    assert not (tmp_path / "cache").exists()


def test_json_lines_stay_json_lines(program: ModuleType, source: Path, tmp_path: Path) -> None:
    lines = source.with_suffix(".jsonl")
    lines.write_text("\n".join(json.dumps(record) for record in RECORDS) + "\n\n")
    wanted = {**AS_IS, "transform": "convert_alpaca_to_messages"}
    made = program.dataset.prepare(lines, tmp_path / "cache", tmp_path, wanted)
    first = json.loads(made.read_text().splitlines()[0])
    assert [message["role"] for message in first["messages"]] == ["user", "assistant"]
    assert made.suffix == ".jsonl"


def test_options_become_words_of_the_command_line(program: ModuleType) -> None:
    given = {"epochs": 0, "flag": True, "off": False, "none": None, "many": ["a", 1], "rate": 2e-05}
    assert program.options(given) == ["--epochs=0", "--flag", "--many", "a", "1", "--rate=2e-05"]


class Runs:
    """Record the programs that would run; return the exit code given for one of their words, or 0."""

    def __init__(self, **codes: int) -> None:
        self.codes = codes
        self.words: list[list[str]] = []
        self.environments: list[dict[str, str]] = []

    def __call__(self, words: list[Any], environment: dict[str, str] | None = None) -> int:
        self.words.append([str(word) for word in words])
        self.environments.append(environment or {})
        return next((code for name, code in self.codes.items() if any(name in str(word) for word in words)), 0)


def place(tmp_path: Path, workload: str, configuration: dict[str, Any], **dataset: Any) -> dict[str, Path]:
    folders = {name: tmp_path / name for name in ("configuration", "storage", "output")}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    job = {"name": "granite", "workload": workload, "dataset": {**AS_IS, "prepare_cache_only": False, **dataset}}
    (folders["configuration"] / "job.json").write_text(json.dumps(job))
    (folders["configuration"] / "config.json").write_text(json.dumps(configuration))
    return folders


def test_fms_gets_its_configuration_file_and_writes_results(
    program: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs()
    monkeypatch.setattr(program, "run", runs)
    folders = place(tmp_path, "fms", {"environment": {"A": "1"}, "r": 4})
    (folders["output"] / "model").mkdir()
    (folders["output"] / "model/training_logs.jsonl").write_text("{}\n")
    (folders["output"] / "model/weights.bin").write_text("many")
    assert program.main(**folders) == 0
    assert json.loads(Path(runs.environments[0]["SFT_TRAINER_CONFIG_JSON_PATH"]).read_text()) == {"r": 4}
    assert (folders["output"] / "dataset.json").resolve() == source
    kept = sorted(path.name for path in (folders["storage"] / "output/granite").iterdir())
    assert kept == ["pip-freeze.txt", "training_logs.jsonl"]


def test_ilab_prepares_its_data_then_joins_the_other_pods(
    program: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(main_ds=7)
    monkeypatch.setattr(program, "run", runs)
    pod = {
        "PET_NNODES": "2",
        "PET_NODE_RANK": "1",
        "MASTER_ADDR": "granite-master-0",
        "MASTER_PORT": "23456",
        "RANK": "1",
    }
    for name, value in pod.items():
        monkeypatch.setenv(name, value)
    configuration = {
        "torchrun": {"max_restarts": 0},
        "data_process": {"max_seq_len": 4096},
        "model_name_or_path": "/m",
        "data_path": str(tmp_path / "output/data/data.jsonl"),
        "output_dir": str(tmp_path / "output/model"),
        "num_epochs": 1,
    }
    folders = place(tmp_path, "ilab", configuration)
    assert program.main(**folders) == 7
    data, torchrun = runs.words
    assert data[1:3] == ["-m", "instructlab.training.data_process"]
    assert f"--data_output_path={tmp_path}/output/data" in data
    assert torchrun[:4] == ["torchrun", "--nnodes=2", "--node_rank=1", "--rdzv_id=1"]
    assert "--rdzv_endpoint=granite-master-0:23456" in torchrun
    assert torchrun[torchrun.index("-m") + 1] == "instructlab.training.main_ds"
    assert torchrun[-1] == "--num_epochs=1"
    assert not (folders["storage"] / "output").exists(), "only the main pod keeps results"


def test_ray_runs_its_program_with_and_without_data(
    program: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(network=3)
    monkeypatch.setattr(program, "run", runs)
    monkeypatch.setattr(program, "APP", tmp_path / "app")
    (tmp_path / "app").mkdir()
    (tmp_path / "app/finetune.py").touch()
    assert program.main(**place(tmp_path, "ray", {})) == 0
    assert (tmp_path / "output/dataset.json").resolve() == source
    (tmp_path / "app/finetune.py").rename(tmp_path / "app/network.py")
    assert program.main(**place(tmp_path, "ray", {}, name="")) == 3
    assert [Path(words[-1]).name for words in runs.words] == ["finetune.py", "network.py"]


def test_failed_preparation_skips_the_training(
    program: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(data_process=2)
    monkeypatch.setattr(program, "run", runs)
    configuration = {"model_name_or_path": "/m", "data_path": f"{tmp_path}/d/d.jsonl", "output_dir": f"{tmp_path}/m"}
    assert program.main(**place(tmp_path, "ilab", configuration)) == 2
    assert len(runs.words) == 1


def test_prepare_only_trains_nothing(
    program: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs()
    monkeypatch.setattr(program, "run", runs)
    folders = place(tmp_path, "fms", {}, replication=2.0, prepare_cache_only=True)
    assert program.main(**folders) == 0
    assert runs.words == []
    assert len(list((folders["storage"] / "dataset_cache").iterdir())) == 1


def test_killed_program_has_the_exit_code_of_a_shell(program: ModuleType) -> None:
    assert program.run([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert program.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]) == 137
