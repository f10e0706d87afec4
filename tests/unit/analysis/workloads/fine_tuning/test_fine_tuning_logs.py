"""Logs of trainers: each format is read, truncated records are counted, problems are named, no log stops a reader.

The logs in tests/data/training_logs are written by hand in the format of the real programs' output.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.analysis import analyse
from perfanalysis.workloads.fine_tuning.logs.reading import LogRead, read_log, read_logs, trainers_log
from perfanalysis.workloads.fine_tuning.logs.records import clean_lines
from perfanalysis.workloads.fine_tuning.parser import parse

from tests.data.synthetic_runs import write_json

LOGS = Path(__file__).resolve().parents[4] / "data" / "training_logs"
NAMES = sorted(path.name for path in LOGS.iterdir())
SEED = 20_261_121
MUTANTS = 15
SHARDS = (
    b"\r",
    b"\n",
    b"{'",
    b"{\n",
    b"}",
    b"\x00",
    b"\x1b[92m",
    b"\xff\xfe",
    b"nan",
    b"9" * 400,
    b"'loss': ",
    "│".encode(),
)


def read(name: str, workload: str = "") -> LogRead:
    return read_log(LOGS / name, name, workload or name.split("_")[0])


def problems(log: LogRead) -> dict[str, int]:
    return {problem.kind: problem.count for problem in log.problems}


def facts(log: LogRead) -> dict[str, float]:
    return {fact.name: fact.value for fact in log.facts}


def test_lines_are_those_that_a_terminal_shows(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(
        b"\x1b[36m(RayTrainWorker pid=7, ip=10.0.0.1)\x1b[0m hello [repeated 3x across cluster]\n"
        b"2026-11-20T09:30:00.5Z [rank1]: one\rtwo\r\n\r\n \x1b]0;title\x07\x1b[32mgreen\x1b[0m\x00\n"
        b"no end \xe2\x82"
    )
    assert [(line.number, line.text, line.at_s is not None) for line in clean_lines(path)] == [
        (1, "hello", False),
        (2, "one", True),
        (2, "two", True),
        (4, " green", False),
        (5, "no end \ufffd", False),
    ]


def test_complete_log_of_hf_trainer_is_read() -> None:
    log = read("fms_whole.log")
    assert (log.format, problems(log)) == ("hf_trainer", {})
    assert [step.number for step in log.steps] == [4.0 * place for place in range(1, 11)]
    assert [step.elapsed_s for step in log.steps] == [12.0 * place for place in range(1, 11)]
    first, last = log.steps[0], log.steps[-1]
    assert (first.loss, first.grad_norm, first.learning_rate, first.epoch) == (2.24, 1.46, 9e-06, 0.1)
    assert last.loss == 0.8
    stated = facts(log)
    assert stated["train_runtime"] == 121.5032, "the block of metrics repeats it with fewer digits"
    assert stated["train_tokens_per_second"] == 345.7
    assert stated["total_train_batch_size"] == 16
    assert stated["number_of_trainable_parameters"] == 3_012_441_088
    assert stated["total_tokens"] == 163_840


def test_truncated_log_of_hf_trainer_is_read_and_reported() -> None:
    log = read("fms_torn.log")
    assert problems(log) == {"GPU out of memory": 1, "torn records": 3}
    assert [(step.number, step.loss, step.eval_loss) for step in log.steps] == [
        (1, 3.1012, None),
        (2, 2.871, None),
        (3, 2.75, None),
        (6, None, 2.61),
        (8, 2.5, None),
    ]
    assert log.steps[-1].elapsed_s == 41, "the bar of the evaluation is another one"
    assert "train_runtime" not in facts(log)


def test_losses_that_are_not_numbers_are_missing_and_named() -> None:
    log = read("fms_not_finite.log")
    assert [step.loss for step in log.steps] == [2.0, 1.9, None, None, None]
    assert problems(log) == {"loss not finite": 3, "grad_norm not finite": 4}
    [problem] = [problem for problem in log.problems if problem.kind == "loss not finite"]
    assert (problem.line, problem.text) == (5, "loss is NaN or infinite, from step 3 on")
    assert "train_loss" not in facts(log)
    assert [step.at_s for step in log.steps][1] == (log.steps[0].at_s or 0) + 2


def test_complete_log_of_instructlab_is_read() -> None:
    log = read("ilab_whole.log")
    assert (log.format, problems(log)) == ("instructlab", {})
    assert [step.number for step in log.steps] == list(range(1, 13))
    third = log.steps[2]
    assert third.loss == pytest.approx(1.35)
    assert (third.samples_seen, third.samples, third.tokens) == (144, 48, 30_000)
    assert (third.samples_per_second, third.gpu_memory_gib) == (10.0, 20.75)
    assert (third.at_s or 0) - (log.steps[0].at_s or 0) == 8
    assert facts(log)["torchrun_exec_time_s"] == 60


def test_truncated_log_of_instructlab_is_read_and_reported() -> None:
    log = read("ilab_torn.log")
    assert [step.number for step in log.steps] == [2, 3, 5]
    assert problems(log) == {"collective timed out": 1, "torn records": 4}


def test_restarted_training_counts_from_its_last_start() -> None:
    log = read("ilab_begun_anew.log")
    assert [(step.number, step.loss) for step in log.steps] == [(1, 1.4), (2, None), (3, None)]
    assert problems(log) == {"process killed": 1, "restarted": 1, "loss not finite": 2}


def test_complete_log_of_ray_is_read() -> None:
    log = read("ray_whole.log")
    assert (log.format, problems(log)) == ("ray", {})
    assert [step.number for step in log.steps] == list(range(1, 9)), (
        "steps that begin anew in each epoch are counted on"
    )
    assert [step.step_time_s for step in log.steps] == [14.0] + [8.0] * 7
    assert [step.learning_rate for step in log.steps] == [2e-05] * 8
    assert log.steps[-1].loss == 1.2
    assert facts(log)["total_running_time_s"] == 84


def test_truncated_log_of_ray_is_read_and_reported() -> None:
    log = read("ray_torn.log")
    assert [(step.number, step.loss, step.step_time_s) for step in log.steps] == [
        (0, 1.9, None),
        (1, 1.8, 8.25),
        (2, 1.7, None),
    ]
    assert problems(log) == {"process killed": 1, "torn records": 2}


def test_benchmark_logs_of_ray_are_read() -> None:
    iperf = read("ray_iperf.log")
    received = [fact.value for fact in iperf.facts if fact.name == "iperf_receiver_bits_per_second"]
    assert received == [9.0e9, 9.4e9], "of parallel streams the sum counts"
    assert [fact.value for fact in iperf.facts if "sender" in fact.name] == [9.2e9, 9.6e9]
    overhead = read("ray_overhead.log")
    assert facts(overhead) == {"benchmark_time_s": 612.25}
    assert problems(overhead) == {"benchmark failed": 1}


def test_ray_job_may_run_another_trainer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = (f"(RayTrainWorker pid=3) {{'loss': {loss}, 'epoch': 0.5}}\n" for loss in (2.0, 1.5))
    path.write_text("".join(lines))
    log = read_log(path, "log", "ray")
    assert (log.format, [step.loss for step in log.steps]) == ("hf_trainer", [2.0, 1.5])


def test_output_of_no_trainer_has_no_format(tmp_path: Path) -> None:
    assert (read("nothing.log").format, problems(read("nothing.log"))) == (None, {})
    (tmp_path / "empty.log").touch()
    logs = read_logs(tmp_path, ["missing.log", "empty.log", "../other.log", "."], "fms", 1.0)
    assert [problems(log) for log in logs] == [{"no log": 1}, {"empty log": 1}, {"foreign path": 1}, {"no log": 1}]
    assert trainers_log(logs) is None


def test_log_of_the_main_pod_counts_and_others_report_problems(tmp_path: Path) -> None:
    (tmp_path / "main.log").write_text("{'loss': 1.0, 'epoch': 1}\n")
    (tmp_path / "worker.log").write_text("{'loss': 9.0, 'epoch': 1}\nOSError: No space left on device\n")
    logs = read_logs(tmp_path, ["main.log", "worker.log"], "fms", 1.0)
    chosen = trainers_log(logs)
    assert chosen is not None and chosen.log == "main.log"
    assert problems(logs[1]) == {"disk full": 1}


def test_exception_is_named_by_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "ValueError: not raised, only spoken of\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n    f()\n'
        "huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error\n"
    )
    assert problems(read_log(path, "log", "fms")) == {"exception RepositoryNotFoundError": 1}


def damage(content: bytes, chance: random.Random) -> bytes:
    """Return a text with one to four damages: a part removed, duplicated, moved, or replaced by invalid values."""
    for _ in range(chance.randint(1, 4)):
        begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
        end = min(end, begin + chance.choice((1, 8, 200, len(content))))
        part = content[begin:end]
        new = chance.choice((b"", part + part, part[::-1], chance.choice(SHARDS), chance.randbytes(len(part) % 40)))
        content = content[:begin] + new + content[end:]
    return content


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_damaged_log_does_not_stop_the_analysis(name: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {name}")
    content = (LOGS / name).read_bytes()
    document = {
        "schema": "psap.perf/fine-tuning/1",
        "workload": name.split("_")[0],
        "pods": 1,
        "gpus_per_pod": 4,
        "logs": ["log"],
        "outcome": "completed",
        "configuration": {"batch_size_per_device": 4},
    }
    write_json(tmp_path / "fine_tuning.json", document)
    place = Place(tmp_path, "artifacts", "fine_tuning.json", None)
    for _ in range(MUTANTS):
        (tmp_path / "log").write_bytes(damage(content, chance))
        analysis = analyse(parse(RecordingFiles(place)), place, "linear")
        for name_of_frame, spec in analysis.specs.items():
            spec.conform(analysis.frames[name_of_frame])
        assert all(value.number is not None or value.reason for value in analysis.kpis)
