# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: fetch_files
short_description: Fetch files from the pod of a Job
version_added: 0.1.0
description:
  - Copies files from a running container to C(artifacts/) of the command, by exec. The container needs C(cat). To keep
    the files of a program that ends, put them into a volume that a second container of the pod mounts, too.
  - It does not change the cluster.
author: The psap.perf developers (@openshift-psap)
options:
  namespace:
    description: Namespace of the pod.
    type: str
    required: true
  pod_selector:
    description: Label selector of the pod; of several pods, the first that the API lists is used.
    type: str
    required: true
  container:
    description: Container from which the files are copied.
    type: str
    default: results
  files:
    description: Path of each file in the container, mapped to its path below C(artifacts/).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Fetch the results
  psap.perf.fetch_files:
    namespace: models
    pod_selector: job-name=load
    files: {/results/output.json: output/output.json}
"""

RETURN = r"""
bytes:
  description: Size of all files.
  type: int
  returned: success
"""
