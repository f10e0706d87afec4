# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: configuration
short_description: Create the configuration of a trainer
version_added: 0.1.0
description:
  - Merges hyper-parameters over a base configuration of the role, and the command's own values over both. The result is
    C(src/config.json) of the command. It does not change the cluster.
  - Returns ConfigMaps with the configuration, a description of the job and the programs of the pods, for
    C(psap.perf.apply).
author: The psap.perf developers (@openshift-psap)
options:
  base:
    description: The base configuration, a YAML file in C(files/) of the role.
    type: str
    required: true
  hyper_parameters:
    description:
      - The user's hyper-parameters, by the trainer's names. Dictionaries merge by key; null removes a key. Names in
        capitals are environment variables. The lists in V(raw_lists) become hyper-parameters.
    type: dict
    default: {}
  decided:
    description: Values from the command's other arguments; hyper-parameters must not set them.
    type: dict
    default: {}
  job:
    description: The input of the programs in the pods, C(job.json).
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
        description: The trainer's program to run, if it has several.
        type: str
        default: ""
      pods:
        description: Number of pods.
        type: int
        required: true
      gpus_per_pod:
        description: Number of GPUs of each.
        type: int
        required: true
      dataset:
        description: The data set, and its preparation.
        type: dict
        required: true
        suboptions:
          name:
            description: Its file; empty for none.
            type: str
            default: ""
          replication:
            description: How many times it is repeated.
            type: float
            default: 1.0
          transform:
            description: The converter of its records; empty for none.
            type: str
            default: ""
          prefer_cache:
            description: Whether to use an earlier job's prepared data set.
            type: bool
            default: true
          prepare_cache_only:
            description: Whether the job ends after the preparation.
            type: bool
            default: false
  programs:
    description:
      - The programs of the pods, files of the role or one that includes it, by the suffix of their ConfigMap's name.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Create the configuration
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
  description: The configuration; its key C(environment) has environment variables, all texts.
  type: dict
  returned: success
config_maps:
  description: The ConfigMaps of the job, as manifests.
  type: list
  elements: dict
  returned: success
"""
