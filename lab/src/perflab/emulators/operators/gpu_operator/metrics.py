"""The pages of metrics: the DCGM exporter's of one node, the node status exporter's, and the operator's."""

from __future__ import annotations

import csv
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perflab.cluster.hardware import Hardware
from perflab.emulators.operators.gpu_operator.usage import Usage

DRIVER_VERSION = "570.148.08"
_IDLE_W, _BUSY_W = 70.0, 650.0
_IDLE_C, _BUSY_C = 30.0, 65.0
# the exporter's own list: the part for which the lab has numbers
DEFAULTS = """
DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_MEM_CLOCK, gauge, Memory clock frequency (in MHz).
DCGM_FI_DEV_MEMORY_TEMP, gauge, Memory temperature (in C).
DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).
DCGM_FI_DEV_POWER_USAGE, gauge, Power draw (in W).
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, counter, Total energy consumption since boot (in mJ).
DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, Total number of PCIe retries.
DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization (in %).
DCGM_FI_DEV_MEM_COPY_UTIL, gauge, Memory utilization (in %).
DCGM_FI_DEV_ENC_UTIL, gauge, Encoder utilization (in %).
DCGM_FI_DEV_DEC_UTIL, gauge, Decoder utilization (in %).
DCGM_FI_DEV_XID_ERRORS, gauge, Value of the last XID error encountered.
DCGM_FI_DEV_FB_FREE, gauge, Framebuffer memory free (in MiB).
DCGM_FI_DEV_FB_USED, gauge, Framebuffer memory used (in MiB).
DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Ratio of time the graphics engine is active.
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, Ratio of cycles the tensor pipe is active.
DCGM_FI_PROF_DRAM_ACTIVE, gauge, Ratio of cycles the device memory interface is active.
"""


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the exporter's list; *kind* is gauge, counter, or label."""

    name: str
    kind: str
    help: str


def read_list(text: str) -> list[Metric]:
    """Parse the exporter's list of metrics in its ConfigMap.

    Raises:
        ValueError: A line is invalid, which ends a real exporter too.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = []
    for parts in csv.reader(lines, skipinitialspace=True):
        if len(parts) < 3 or parts[1].strip() not in ("gauge", "counter", "histogram", "label"):
            raise ValueError(f"invalid line {', '.join(parts)!r}: write NAME, type, help")
        found.append(Metric(parts[0].strip(), parts[1].strip(), ", ".join(parts[2:]).strip()))
    return found


def values(hardware: Hardware, usage: Usage, energy_j: float) -> dict[str, float]:
    """Return the lab's numbers of one GPU, by the names of DCGM's fields; *energy_j* since the exporter runs."""
    busy = usage.utilization
    return {
        "DCGM_FI_DEV_SM_CLOCK": 1980.0 if busy else 345.0,
        "DCGM_FI_DEV_MEM_CLOCK": 2619.0,
        "DCGM_FI_DEV_MEMORY_TEMP": _between(_IDLE_C, _BUSY_C, busy),
        "DCGM_FI_DEV_GPU_TEMP": _between(_IDLE_C, _BUSY_C, busy),
        "DCGM_FI_DEV_POWER_USAGE": power_w(usage),
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": energy_j * 1000,
        "DCGM_FI_DEV_GPU_UTIL": busy * 100,
        "DCGM_FI_DEV_MEM_COPY_UTIL": busy * 50,
        "DCGM_FI_DEV_FB_FREE": float(hardware.memory_mib - usage.memory_mib),
        "DCGM_FI_DEV_FB_USED": float(usage.memory_mib),
        "DCGM_FI_DEV_FB_TOTAL": float(hardware.memory_mib),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": busy,
        "DCGM_FI_PROF_SM_ACTIVE": busy * 0.9,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": busy * 0.5,
        "DCGM_FI_PROF_DRAM_ACTIVE": busy * 0.5,
    }


def power_w(usage: Usage) -> float:
    """Return the power of a GPU."""
    return _between(_IDLE_W, _BUSY_W, usage.utilization)


def dcgm_page(node: str, hardware: Hardware, gpus: Sequence[tuple[Usage, float]], metrics: Sequence[Metric]) -> str:
    """Return the page of a node's DCGM exporter; *gpus* with the energy of each in J. A field without a number is 0."""
    shown = [metric for metric in metrics if metric.kind != "label"]
    numbers = [values(hardware, usage, energy_j) for usage, energy_j in gpus]
    labels = [_labels(node, index, hardware, usage) for index, (usage, _) in enumerate(gpus)]
    lines: list[str] = []
    for metric in shown:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [
            f"{metric.name}{{{text}}} {number.get(metric.name, 0.0):g}"
            for text, number in zip(labels, numbers, strict=True)
        ]
    return "\n".join(lines) + "\n"


def _labels(node: str, index: int, hardware: Hardware, usage: Usage) -> str:
    # the same GPU always has the same UUID
    labels = {
        "gpu": str(index),
        "UUID": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{node}/{index}')}",
        "device": f"nvidia{index}",
        "modelName": hardware.model,
        "Hostname": node,
        "DCGM_FI_DRIVER_VERSION": DRIVER_VERSION,
        **_holder(usage),
    }
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def _holder(usage: Usage) -> dict[str, str]:
    if usage.pod is None:
        return {}
    metadata = usage.pod["metadata"]
    container = next(_with_gpus(usage), "")
    return {"container": container, "namespace": metadata["namespace"], "pod": metadata["name"]}


def _with_gpus(usage: Usage) -> Iterator[str]:
    for container in (usage.pod or {})["spec"]["containers"]:
        if any(name.startswith("nvidia.com/") for name in (container.get("resources") or {}).get("limits") or ()):
            yield container["name"]


def _between(idle: float, busy: float, share: float) -> float:
    return idle + (busy - idle) * share
