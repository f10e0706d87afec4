# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: configuration
short_description: Create the configuration of a trainer
version_added: 0.1.0
description:
  - Puts hyper-parameters over a base configuration of the role, and what the command itself decides over both. The
    result is C(src/config.json) of the command. It changes nothing of the cluster.
  - The ConfigMaps that bring it into the pods, with a description of the job and the programs that run there, are
    returned, for C(psap.perf.apply).
author: The psap.perf developers (@openshift-psap)
options:
  base:
    description: The base configuration, a YAML file in C(files/) of the role.
    type: str
    required: true
  hyper_parameters:
    description:
      - What the user gives, by the trainer's own names. Dictionaries merge by key and null takes a key away. Names in
        capitals are environment variables. What stands below V(raw_lists) goes beside the others.
    type: dict
    default: {}
  decided:
    description: What follows from the command's other arguments; a hyper-parameter that sets it is refused.
    type: dict
    default: {}
  job:
    description: What the programs in the pods are told, C(job.json) for them.
    type: dict
    required: true
    suboptions:
      name:
        description: The job's name.
        type: str
        required: true
      workload:
        description: The trainer.
        type: str
        choices: [fms, ilab, ray]
        required: true
      program:
        description: Which of the trainer's programs runs, where it has several.
        type: str
        default: ""
      pods:
        description: How many pods.
        type: int
        required: true
      gpus_per_pod:
        description: How many GPUs each has.
        type: int
        required: true
      dataset:
        description: The data set, and what is done with it before.
        type: dict
        required: true
        suboptions:
          name:
            description: Its file; empty for none.
            type: str
            default: ""
          replication:
            description: How many times over it is used.
            type: float
            default: 1.0
          transform:
            description: The converter of its records; empty for none.
            type: str
            default: ""
          prefer_cache:
            description: Whether it is used as an earlier job prepared it.
            type: bool
            default: true
          prepare_cache_only:
            description: Whether the job ends when it is prepared.
            type: bool
            default: false
  programs:
    description:
      - What runs in the pods, files of the role, or of one that includes it, by the end of their ConfigMap's name.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Make the configuration
  psap.perf.fine_tuning.configuration:
    base: base_fms.yml
    hyper_parameters: {peft_method: lora, r: 4}
    decided: {output_dir: /mnt/output/model}
    job: {name: granite, workload: fms, pods: 1, gpus_per_pod: 8, dataset: {name: alpaca_data.json}}
    programs: {entrypoint: [entrypoint.py, dataset.py]}
  register: __fine_tuning_run_fine_tuning_job_configuration
"""

RETURN = r"""
configuration:
  description: The configuration; its key C(environment) holds environment variables, all texts.
  type: dict
  returned: success
config_maps:
  description: The ConfigMaps of the job, as manifests.
  type: list
  elements: dict
  returned: success
"""
