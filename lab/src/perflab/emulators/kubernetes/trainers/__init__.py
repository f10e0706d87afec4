"""Trainers in the pods of fine-tuning jobs, part of every lab: what they log, how long they take, what they need.

A pod with the label `lab.psap.perf/trainer: fms|ilab|ray` is a trainer's. When it is created, a webhook reads the
ConfigMap of its job (label `psap.perf/fine-tuning-job: NAME`, ConfigMap `NAME-config` with `job.json` and
`config.json`) and its GPUs, and writes annotations: `lab.psap.perf/duration`, `lab.psap.perf/exit-code` when a GPU's
memory does not fit, and `lab.psap.perf/training`, from which the kubelet endpoint prints the log as time goes. Those
that the pod has already stay. Time runs as fast as `lab.psap.perf/training-speed` of the pod says, else the number
`trainers.speed`. A pod without a GPU, or one that only prepares data, is as any other; so is one whose job is not
described, and a warning to who created it says why.

Emulated: the logs of Hugging Face's Trainer, InstructLab's training and Ray Train, and numbers by a stated model (see
docs/fine-tuning.md), the same for the same job each time. Not emulated: any program, any file that it writes, the
time that reading the data takes.
"""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.kubernetes.trainers.webhook import Webhook

NUMBERS = {"speed": "how many times as fast as real time trainings run; 600 by default"}
_USUAL_SPEED = 600.0


def controllers(cluster: Cluster) -> list[Webhook]:
    """Only the webhook: what follows from it is the lab's usual life of a pod."""
    steps = cluster.steps
    return [Webhook(cluster, Path.cwd(), lambda: steps.number("speed", _USUAL_SPEED))]
