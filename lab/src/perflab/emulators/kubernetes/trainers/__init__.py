"""Trainers in the pods of fine-tuning jobs, in labs with KubeRay or the training operator: logs, durations, memory.

A pod with the label `lab.psap.perf/trainer: fms|ilab|ray` is a trainer's. When it is created, a webhook reads the
ConfigMap of its job (label `psap.perf/fine-tuning-job: NAME`, ConfigMap `NAME-config` with `job.json` and
`config.json`) and its GPUs, and writes annotations: `lab.psap.perf/duration`, `lab.psap.perf/exit-code` if a GPU's
memory is too small, and `lab.psap.perf/training`, from which the kubelet endpoint prints the log over time. Existing
annotations of the pod stay. `lab.psap.perf/training-speed` of the pod, else the number `trainers.speed`, sets the speed
of time. A pod without a GPU, or one that only prepares data, is an ordinary pod; so is one without a job description,
and a warning to its creator states why.

Emulated: the logs of Hugging Face's Trainer, InstructLab's training and Ray Train, and numbers by a documented model
(see docs/fine-tuning.md), the same for the same job each time. Not emulated: any program, any file that it writes, the
time of reading the data.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.kubernetes.trainers.webhook import Webhook

NUMBERS = {"speed": "how many times faster than real time trainings run; 600 by default"}
_USUAL_SPEED = 600.0


def controllers(cluster: Cluster) -> list[Webhook]:
    """Return only the webhook: the rest is the lab's usual life of a pod."""
    steps = cluster.steps
    return [Webhook(cluster, Path.cwd(), lambda: steps.number("speed", _USUAL_SPEED))]
