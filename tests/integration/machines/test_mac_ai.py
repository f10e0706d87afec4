"""The flow mac_ai as its user runs it, over a real sshd, and its failures.

llama.cpp is a stand-in; the deep tests use the real one with a model of random weights, whose rates are not
representative of other models.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
import yaml
from perflab.processes.ports import free_ports

from tests.integration.conftest import PROJECT
from tests.integration.machines.conftest import Machine
from tests.integration.machines.test_container_bench import only_run, reason
from tests.polling import wait_until
from tests.standins.hosts.inference_servers import copy_image_sources, copy_llama_cpp, copy_stand_ins, put, put_ramalama


@pytest.fixture(scope="module", name="stand_in")
def _stand_in(machine: Machine) -> str:
    """Return the folder on the machine with stand-ins for llama.cpp and a model."""
    copy_stand_ins(machine.folder / "stand-in")
    return f"{machine.folder}/stand-in"


@pytest.fixture(scope="module", name="llama_cpp")
def _llama_cpp(machine: Machine, stand_in: str) -> str:
    """Return the folder on the machine with a real llama.cpp and a real model."""
    copy_llama_cpp(machine.folder / "llama.cpp")
    return f"{machine.folder}/llama.cpp"


def measuring(machine: Machine, programs: str) -> list[str]:
    """Return the common arguments of runs of the flow with a llama.cpp in the folder *programs*."""
    settings = {
        "programs": json.dumps({"linux/llama_cpp": programs, "linux/ramalama": programs}),
        "model": f"{programs}/tiny.gguf",
        "port": free_ports(["mac_ai"])["mac_ai"],
        "work_directory": f"{machine.folder}/work/mac_ai",
        # a list, like the preset's, but shorter
        "ngl": [99],
        "repetitions": 3,
        "sample_interval": 0.2,
        "power": "powermetrics",
        "power_path": f"{machine.folder}/stand-in/powermetrics",
    }
    given = [f"mac_ai_{name}={value}" for name, value in settings.items()]
    preset = ["run", "mac_ai", "-p", "mac_ai_linux_llama_cpp", "-i", str(machine.folder / "hosts.yml")]
    return [*preset, *(word for each in given for word in ("-s", each))]


def running(machine: Machine, program: str) -> list[str]:
    """Return the processes of a program on the machine."""
    return machine.inside("sh", "-c", f"ps -e -o comm= | grep -x {program} || true").split()


@pytest.mark.parametrize(
    ("kind", "server", "repetitions"),
    [
        ("stand_in", "llama_cpp", 3),
        pytest.param("llama_cpp", "llama_cpp", 3, marks=pytest.mark.deep),
        # without containers; its number of repetitions is fixed
        pytest.param("stand_in", "ramalama", 5, marks=pytest.mark.deep),
    ],
)
def test_model_is_measured_and_served_and_a_missing_one_named(
    kind: str, server: str, repetitions: int, machine: Machine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    programs = request.getfixturevalue(kind)
    scheme = "file://" if server == "ramalama" else ""
    there = f"{scheme}{programs}/tiny.gguf"
    models = ("-s", f"mac_ai_model=[{there}, {scheme}{machine.folder}/none.gguf]", "-s", "mac_ai_engine=none")
    platform = ("-s", f"mac_ai_platform=linux/{server}")
    code, output = machine.run(tmp_path, *measuring(machine, programs), *models, *platform)
    assert code == 3, output
    assert "none.gguf" in str(reason(tmp_path)["reason"])
    kpis = json.loads((only_run(tmp_path) / "report/kpis.json").read_text())["kpis"]
    values = {one["name"]: one["value"] for one in kpis if one["labels"].get("mac_ai_model") == there}
    assert values["repetitions_done"] == 2 * repetitions
    assert values["pp_throughput"] > values["tg_throughput"] > 0
    assert values["load_time"] > 0
    assert values["first_token_max"] >= values["first_token_p50"] > 0
    # the stand-in for powermetrics reports 6 mW
    assert values["host_power_mean"] == pytest.approx(0.006)
    # the power's document lists the tests of its time, each too short for a sample
    sampled = [yaml.safe_load(path.read_text()) for path in only_run(tmp_path).rglob("power_usage.yml")]
    assert sorted(len(document["tests"]) for document in sampled) == [0, 2]
    assert 0 < values["host_cpu_max"] <= 1
    assert running(machine, "llama-server") == []
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
def test_ollama_is_measured_by_its_own_figures(machine: Machine, stand_in: str, tmp_path: Path) -> None:
    given = {"platform": "linux/ollama", "model": "tiny", "programs": json.dumps({"linux/ollama": stand_in})}
    settings = [word for name, value in given.items() for word in ("-s", f"mac_ai_{name}={value}")]
    code, output = machine.run(tmp_path, *measuring(machine, stand_in), *settings)
    assert code == 0, output
    kpis = json.loads((only_run(tmp_path) / "report/kpis.json").read_text())["kpis"]
    values = {one["name"]: one["value"] for one in kpis}
    # of the stand-in: 200 tokens in half a second, 4 in a tenth
    assert (values["served_pp_throughput"], values["served_tg_throughput"]) == (400, 40)
    assert values["load_time"] == 0.25
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
@pytest.mark.parametrize("real", [False, True])
def test_platform_is_built_its_model_pulled_and_loaded_by_users(
    real: bool, machine: Machine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    servers, work = machine.folder / f"servers-{real}", machine.folder / "work/built"
    # only stand-ins are built; the compilers are real
    put(servers, real=False)
    folder = request.getfixturevalue("llama_cpp") if real else f"{work}/llama.cpp/bin"
    build = {"what": "llama_cpp", "source": str(servers / "sources"), "folder": f"{work}/llama.cpp"}
    model = f"{folder}/tiny.gguf" if real else f"{work}/models/tiny.gguf"
    settings = {
        "programs": json.dumps({"linux/llama_cpp": folder}),
        "builds": json.dumps({"linux/llama_cpp": build}),
        "sources": json.dumps({f"{work}/models/tiny.gguf": {"name": "tests/tiny", "file": "tiny.gguf"}}),
        "hub": f"file://{servers}/hub",
        "model": model,
        "environment": json.dumps({"PATH": f"{servers}:/usr/bin:/bin"}),
        "power_path": str(servers / "powermetrics"),
        "load_test_users": "[1, 4]",
        "load_test_path": str(PROJECT / "tests/standins/load_generators/llm_load_test"),
        "load_test_python": sys.executable,
        "load_test_max_queries": 8,
    }
    words = [word for name, value in settings.items() for word in ("-s", f"mac_ai_{name}={value}")]
    code, output = machine.run(tmp_path, *measuring(machine, folder), *words)
    assert code == 0, output
    machine.inside("test", "-x", f"{work}/llama.cpp/bin/llama-server")
    loads = sorted(only_run(tmp_path).rglob("output/output.json"))
    answered = [[one["error_code"] for one in json.loads(path.read_text())["results"]] for path in loads]
    assert answered == [[None] * 8, [None] * 8]
    assert running(machine, "llama-server") == []
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
@pytest.mark.parametrize("server", ["llama_cpp", "ramalama"])
def test_server_runs_in_a_container_whose_image_is_built_there(
    server: str, machine: Machine, llama_cpp: str, tmp_path: Path
) -> None:
    sources, platform = machine.folder / f"image-{server}", f"podman/{server}"
    copy_image_sources(Path(llama_cpp), sources)
    if server == "ramalama":
        put_ramalama(sources)
    settings = {
        "platform": platform,
        "programs": json.dumps({platform: "/usr/bin" if server == "llama_cpp" else str(sources)}),
        "builds": json.dumps({platform: {"what": "image", "source": str(sources)}}),
        "image": f"localhost/{server}:1",
        "model": f"{'file://' if server == 'ramalama' else ''}{llama_cpp}/tiny.gguf",
    }
    # ramalama would use twice as many threads as CPUs, which slow each other down
    threads = {f"remote_ramalama_run_{what}_options": "[--threads=1]" for what in ("bench", "model")}
    given = {**settings, **threads}
    words = [word for name, value in given.items() for word in ("-s", f"mac_ai_{name}={value}")]
    code, output = machine.run(tmp_path, *measuring(machine, llama_cpp), *words)
    assert code == 0, output
    kpis = json.loads((only_run(tmp_path) / "report/kpis.json").read_text())["kpis"]
    values = {one["name"]: one["value"] for one in kpis}
    assert values["pp_throughput"] > values["tg_throughput"] > 0
    assert values["first_token_p50"] > 0
    assert machine.inside("podman", "ps", "--all", "--quiet") == ""
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
def test_leftover_server_of_a_killed_run_ends_by_itself(machine: Machine, llama_cpp: str, tmp_path: Path) -> None:
    endless = ("-s", "mac_ai_repetitions=1000000", "-s", "mac_ai_unattended=20s")
    process = machine.start(tmp_path, *measuring(machine, llama_cpp), *endless)
    wait_until(lambda: running(machine, "llama-bench"))
    assert (machine.folder / "work/mac_ai/psap.perf/cpu_ram_usage").is_dir()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until(lambda: not list((machine.folder / "work/mac_ai").iterdir()))
    assert running(machine, "llama-bench") == []
    assert "sample.py" not in machine.inside("ps", "-eo", "args")
    code, output = machine.run(tmp_path, "runs", "finalize", only_run(tmp_path).name)
    assert code == 0, output
    assert running(machine, "llama-bench") == []
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
def test_interrupted_run_stops_its_sampler(machine: Machine, llama_cpp: str, tmp_path: Path) -> None:
    process = machine.start(tmp_path, *measuring(machine, llama_cpp), "-s", "mac_ai_repetitions=1000000")
    wait_until(lambda: running(machine, "llama-bench"))
    process.send_signal(signal.SIGINT)
    output, _nothing = process.communicate()
    assert process.returncode == 130, output
    assert running(machine, "llama-bench") == []
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
def test_lost_machine_is_named_and_cleaned_up_when_it_returns(machine: Machine, llama_cpp: str, tmp_path: Path) -> None:
    process = machine.start(tmp_path, *measuring(machine, llama_cpp), "-s", "mac_ai_repetitions=1000000")
    wait_until(lambda: running(machine, "llama-bench"))
    machine.stop_sshd()
    output, _nothing = process.communicate()
    machine.start_sshd()
    assert process.returncode == 3, output
    assert "cannot be reached" in str(reason(tmp_path)["reason"])
    code, output = machine.run(tmp_path, "runs", "finalize", only_run(tmp_path).name)
    assert code == 0, output
    assert running(machine, "llama-bench") == []
    assert list((machine.folder / "work/mac_ai").iterdir()) == []


@pytest.mark.deep
def test_server_outlives_its_starting_command_until_stopped(machine: Machine, llama_cpp: str, tmp_path: Path) -> None:
    command = ("toolbox", "mac-ai", "remote-llama-cpp-run-model", "-i", str(machine.folder / "hosts.yml"))
    where = ("--port", str(free_ports(["server"])["server"]), "--work-directory", f"{machine.folder}/work/mac_ai")
    program = ("--path", f"{llama_cpp}/llama-server", "--name", f"{llama_cpp}/tiny.gguf")
    code, output = machine.run(tmp_path / "start", *command, *where, *program)
    assert code == 0, output
    assert running(machine, "llama-server") == ["llama-server"]
    code, output = machine.run(tmp_path / "stop", *command, *where, "--stop")
    assert code == 0, output
    assert running(machine, "llama-server") == []
    (log,) = (tmp_path / "stop").rglob("inference_server.log")
    assert "listening on" in log.read_text()
    assert list((machine.folder / "work/mac_ai").iterdir()) == []
