"""Samplers of a host during a test: the values computed from the kernel's files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from runpy import run_path

ROLES = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf/roles"
STAT = "cpu  100 10 50 800 40 0 5 5 7 3\ncpu0 50 5 25 400 20 0 2 2 3 1\n"
NET_DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier
    lo: 9000 1 0 0 0 0 0 0 9000 1 0 0 0 0 0 0
  eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0
  eth1:10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0
"""
DISKSTATS = """   8 0 sda 5 0 10 1 7 0 40 1 0 1 1
   8 1 sda1 5 0 10 1 7 0 40 1 0 1 1
 259 0 nvme0n1 1 0 2 1 1 0 5 1 0 1 1
 253 0 dm-0 5 0 10 1 7 0 40 1 0 1 1
"""
MEMINFO = "MemTotal:  1000 kB\nMemFree:  100 kB\nMemAvailable:  400 kB\nHugePages_Total:  0\n"


def test_disk_wait_is_idle_and_guests_are_counted_once() -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    assert sampler["processor_ticks"](STAT) == (170, 1010)


def test_reclaimable_memory_is_not_in_use() -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    assert sampler["memory_bytes"](MEMINFO) == (600 << 10, 1000 << 10)


def test_network_has_all_interfaces_but_the_loopback() -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    assert sampler["network_bytes"](NET_DEV) == {"received_bytes": 110, "sent_bytes": 220}


def test_partitions_and_mapped_disks_are_not_counted_again() -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    found = sampler["disk_bytes"](DISKSTATS, {"sda", "nvme0n1"})
    assert found == {"read_bytes": 12 * 512, "written_bytes": 45 * 512}


def test_missing_or_shrunk_counters_have_no_rate(tmp_path: Path) -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    assert sampler["transferred"](tmp_path, {"sda"}) == {}
    before, now = {"sent_bytes": 100, "read_bytes": 100}, {"sent_bytes": 50, "read_bytes": 400, "written_bytes": 9}
    assert sampler["rates"](before, now, 2.0) == {"read_bytes_per_s": 150.0}


def test_first_sample_of_macos_top_is_since_boot() -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_cpu_ram_usage/files/sample.py"))
    memory = "PhysMem: 15G used (2345M wired, 1200M compressor), 1024M unused.\n"
    lines = [
        "CPU usage: 9.0% user, 1.0% sys, 90.0% idle\n",
        memory,
        "CPU usage: 4.5% user, 20.5% sys, 75.0% idle\n",
        memory,
    ]
    samples = list(sampler["of_top"](lines, 16 << 30))
    assert samples == [{"cpu_share": 0.25, "used_bytes": 15 << 30, "memory_bytes": 16 << 30}]


def test_virtual_gpu_memory_is_the_kernels_sum_until_unreadable(tmp_path: Path) -> None:
    memory_file = tmp_path / "host-visible-mm"
    memory_file.write_text("0x0-0x1000: 4096: used\ntotal: 8192, used 4096 free 4096\n")
    # The second reading finds no file.
    reading = f"cat {memory_file} && rm {memory_file}"
    words = [str(ROLES / "mac_ai_remote_capture_virtgpu_memory/files/sample.py"), "0", "sh", "-c", reading]
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    (sample,) = ran.stdout.splitlines()
    assert json.loads(sample)["used_bytes"] == 4096
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith("ended with 1")


def test_processor_energy_handles_wrapping_counters(tmp_path: Path) -> None:
    sampler = run_path(str(ROLES / "mac_ai_remote_capture_power_usage/files/rapl.py"))
    for name in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl"):
        (tmp_path / name).mkdir()
    first, second = sampler["packages"](tmp_path)
    assert (first.name, second.name) == ("intel-rapl:0", "intel-rapl:1")
    (first / "max_energy_range_uj").write_text("1000\n")
    assert sampler["spent_uj"](first, 100, 250) == 150
    assert sampler["spent_uj"](first, 900, 50) == 150


def test_missing_energy_counters_are_reported(tmp_path: Path) -> None:
    words = [str(ROLES / "mac_ai_remote_capture_power_usage/files/rapl.py"), "1", str(tmp_path)]
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, f"{tmp_path} has no energy counters of processors\n")
