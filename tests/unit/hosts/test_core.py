"""The controller's computations for hosts: arguments, facts, clocks, and records of work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.hosts import lines, records
from ansible_collections.psap.perf.plugins.module_utils.hosts.clocks import Clock
from ansible_collections.psap.perf.plugins.module_utils.hosts.engines import engine_facts, require_version
from ansible_collections.psap.perf.plugins.module_utils.hosts.facts import host_facts

from tests.schemas import check

WORDS = {"engine": ["podman", "--root", "/a b"], "name": "it's; rm -rf /", "size": 5, "none": []}


def test_value_with_any_content_is_one_argument() -> None:
    rendered = lines.render("{engine} create --name={name} 'two words' {size} {none}", WORDS)
    assert rendered == ["podman", "--root", "/a b", "create", "--name=it's; rm -rf /", "two words", "5"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{engin} ps", "unknown word engin; did you mean engine?"),
        ("echo 'open", "cannot split"),
        (" ", "is empty"),
    ],
)
def test_ambiguous_command_line_is_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", "[?]")):
        lines.render(line, WORDS)


def test_step_is_repeated_for_each_value() -> None:
    given = {"program": "touch {each}", "undo": "rm {each}", "each": [1, 2], "within": "1m"}
    first, second = lines.steps([given], {})
    assert first == {"program": ["touch", "1"], "undo": ["rm", "1"], "within_s": 60.0}
    assert second["program"] == ["touch", "2"]
    with pytest.raises(UsageError, match="is not a step"):
        lines.steps([{"program": "true", "unlesss": "x"}], {})


def test_clock_is_corrected_only_by_a_known_difference() -> None:
    # An hour ahead; the request took a second in each direction, the answer 2 s.
    hour = Clock.compare((100.0, 103.0), (3700.5, 3702.5))
    assert (hour.offset_s, hour.within_s, hour.correction_s) == (3600.0, 0.5, 3600.0)
    same = Clock.compare((100.0, 103.0), (100.9, 102.9))
    assert same.correction_s == 0.0


def test_podman_and_docker_yield_the_same_fields_without_names() -> None:
    podman = {
        "host": {
            "hostname": "secret-host", "arch": "arm64", "cpus": 4, "memTotal": 8, "os": "linux",
            "security": {"rootless": True}, "ociRuntime": {"name": "crun"}, "serviceIsRemote": True,
        },
        "store": {"graphDriverName": "overlay"},
        "version": {"Version": "5.4.0"},
    }  # fmt: skip
    docker = {
        "Name": "secret-host", "ServerVersion": "28.1", "Driver": "overlay2", "DefaultRuntime": "runc", "NCPU": 4,
        "OSType": "linux", "Architecture": "aarch64", "MemTotal": 8, "OperatingSystem": "Docker Desktop",
        "SecurityOptions": ["name=rootless"], "CgroupVersion": "2",
    }  # fmt: skip
    of_podman, of_docker = (
        engine_facts(json.dumps(output), kind) for output, kind in ((podman, "podman"), (docker, "docker"))
    )
    assert of_podman.keys() == of_docker.keys()
    for facts in (of_podman, of_docker):
        assert "secret-host" not in str(facts)
        assert facts["remote"] is facts["rootless"] is True
        check({"schema": "psap.perf/container_engine/1", **facts})


def test_outdated_engine_is_refused_with_the_required_version() -> None:
    for version in ("5.4.0", "5.10.1-rc1", "6"):
        require_version({"engine": "podman", "version": version}, {"podman": "5.4"})
    for engine, version in (("podman", "4.3.1"), ("podman", "unknown"), ("docker", "28.1")):
        with pytest.raises(HostError, match=rf"is {engine} {version}, but this needs podman 5\.4 or later"):
            require_version({"engine": engine, "version": version}, {"podman": "5.4"})


def test_engine_without_its_daemon_is_named() -> None:
    with pytest.raises(HostError, match="the daemon of docker does not run: Cannot connect"):
        engine_facts(json.dumps({"ServerErrors": ["Cannot connect to the Docker daemon"]}), "docker")
    with pytest.raises(HostError, match="is not JSON"):
        engine_facts("Segmentation fault", "podman")


# Shortened output of ansible.builtin.setup and ansible.windows.setup
MACOS = {
    "ansible_system": "Darwin", "ansible_distribution": "MacOSX", "ansible_distribution_version": "15.3",
    "ansible_kernel": "24.3.0", "ansible_architecture": "arm64", "ansible_model": "Mac16,10",
    "ansible_processor": "Apple M4", "ansible_processor_vcpus": 10, "ansible_memtotal_mb": 16384,
    "ansible_nodename": "secret-host",
}  # fmt: skip
WINDOWS = {
    "ansible_system": "Win32NT", "ansible_os_family": "Windows", "ansible_os_name": "Microsoft Windows 11 Pro",
    "ansible_distribution_version": "10.0.26100.0", "ansible_kernel": "10.0.26100.0",
    "ansible_architecture": "64-bit", "ansible_product_name": "NUC", "ansible_processor": ["0", "GenuineIntel", "i7"],
    "ansible_processor_vcpus": 16, "ansible_memtotal_mb": 32768, "ansible_product_serial": "secret-host",
}  # fmt: skip
LINUX = {
    "ansible_system": "Linux", "ansible_distribution": "Fedora", "ansible_distribution_version": "42",
    "ansible_kernel": "6.14", "ansible_architecture": "x86_64", "ansible_product_name": "R650",
    "ansible_processor": ["0", "GenuineIntel", "Xeon", "1", "GenuineIntel", "Xeon"], "ansible_processor_vcpus": 2,
    "ansible_memtotal_mb": 1024, "ansible_virtualization_role": "guest", "ansible_virtualization_type": "kvm",
}  # fmt: skip


@pytest.mark.parametrize(
    ("setup_facts", "system", "arch", "processor", "memory"),
    [
        (MACOS, "darwin", "arm64", "Apple M4", 16 << 30),
        (WINDOWS, "windows", "x86_64", "i7", 32 << 30),
        (LINUX, "linux", "x86_64", "Xeon", 1 << 30),
    ],
)
def test_hosts_of_all_systems_yield_the_same_fields(
    setup_facts: dict[str, object], system: str, arch: str, processor: str, memory: int
) -> None:
    facts = host_facts(setup_facts)
    found = (facts["system"], facts["arch"], facts["processor"], facts["memory_bytes"])
    assert found == (system, arch, processor, memory)
    assert "secret-host" not in str(facts)
    check({"schema": "psap.perf/system_state/1", **facts})


def test_work_is_unfinished_until_ended_and_has_host_and_user(tmp_path: Path) -> None:
    command = tmp_path / "001__one"
    command.mkdir()
    work = records.HostWork("sutest", True, "/var/tmp/x", {"A": "b"}, [["podman", "ps"]])
    records.begin(command, work)
    check(json.loads((command / "host-work.json").read_text()))
    # From a run on another machine, whose artifacts were retrieved
    retrieved = command / "artifacts/test/001__elsewhere"
    retrieved.mkdir(parents=True)
    records.begin(retrieved, work)
    assert records.unfinished(tmp_path, "sutest", become=True) == [(command, work)]
    assert records.unfinished(tmp_path, "sutest", become=False) == []
    assert records.unfinished(tmp_path, "other", become=True) == []
    records.end(command)
    assert records.unfinished(tmp_path, "sutest", become=True) == []
