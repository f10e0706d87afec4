# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: result
short_description: Record the result of a fine-tuning job
version_added: 0.1.0
description:
  - Reads the job, its pods and the node of its main pod, and writes C(artifacts/fine_tuning.json) of the command, by
    which the analysis knows a fine-tuning result. It is for C(always), before the job is removed.
  - Where there is no such job, nothing was tried and nothing is written.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  name:
    description: The job's name.
    type: str
    required: true
  pod_selector:
    description: The job's pods, as kubectl's C(-l).
    type: str
    required: true
  main_selector:
    description: The one of them whose log and times are the training's.
    type: str
    required: true
  asked:
    description: What the command was to do.
    type: dict
    required: true
    suboptions:
      workload:
        description: The program that trains.
        type: str
        choices: [fms, ilab, ray]
        required: true
      mode:
        description: What it does, such as V(sft).
        type: str
        required: true
      phase:
        description: Which pass of a test it belongs to; empty where there is one only.
        type: str
        default: ""
      container_image:
        description: The image it is in.
        type: str
        required: true
      model:
        description: The model.
        type: str
      dataset:
        description: The data set.
        type: str
      dataset_replication:
        description: How many times over the data set was used.
        type: float
        default: 1.0
      pods:
        description: How many pods.
        type: int
        required: true
      gpus_per_pod:
        description: How many GPUs each has.
        type: int
        required: true
      hyper_parameters:
        description: What the user gave.
        type: dict
        default: {}
      configuration:
        description: What the trainer got.
        type: dict
        required: true
"""

EXAMPLES = r"""
- name: Write down what became of it
  psap.perf.fine_tuning.result:
    kind: PyTorchJob
    name: granite
    namespace: fine-tuning
    pod_selector: training.kubeflow.org/job-name=granite
    main_selector: training.kubeflow.org/replica-type=master
    asked: {workload: fms, mode: sft, container_image: "{{ image }}", pods: 1, gpus_per_pod: 8, configuration: {}}
"""

RETURN = r"""
outcome:
  description: V(completed), V(failed) or V(interrupted).
  type: str
  returned: when there is such a job
reason:
  description: Why it did not complete, null if it did.
  type: str
  returned: when there is such a job
node:
  description: The node of the main pod.
  type: str
  returned: when there is such a job
"""
