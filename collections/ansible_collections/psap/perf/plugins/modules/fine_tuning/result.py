# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: result
short_description: Record the result of a fine-tuning job
version_added: 0.1.0
description:
  - Reads the job, its pods and the node of its main pod, and writes C(artifacts/fine_tuning.json) of the command, which
    marks a fine-tuning result for the analysis. Use it in C(always), before the job is deleted.
  - If the job does not exist, nothing is written.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  name:
    description: The job's name.
    type: str
    required: true
  pod_selector:
    description: Label selector of the job's pods, in the format of kubectl's C(-l).
    type: str
    required: true
  main_selector:
    description: Label selector of the pod whose log and times are the training's.
    type: str
    required: true
  asked:
    description: The command's arguments.
    type: dict
    required: true
    suboptions:
      workload:
        description: The program that trains.
        type: str
        choices: [fms, ilab, ray]
        required: true
      mode:
        description: Its mode, such as V(sft).
        type: str
        required: true
      phase:
        description: The pass of a test to which it belongs; empty if there is only one.
        type: str
        default: ""
      container_image:
        description: Its image.
        type: str
        required: true
      model:
        description: The model.
        type: str
      dataset:
        description: The data set.
        type: str
      dataset_replication:
        description: How many times the data set was repeated.
        type: float
        default: 1.0
      pods:
        description: Number of pods.
        type: int
        required: true
      gpus_per_pod:
        description: Number of GPUs of each.
        type: int
        required: true
      hyper_parameters:
        description: The user's hyper-parameters.
        type: dict
        default: {}
      configuration:
        description: The trainer's configuration.
        type: dict
        required: true
"""

EXAMPLES = r"""
- name: Record the result
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
