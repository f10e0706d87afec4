# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: begin
short_description: Find the application, its API and the notebook's image, and name the runs
version_added: 0.1.0
description:
  - Finds what a notebook needs to create runs of a pipeline. The names of the runs contain a text that is unique to
    this execution, so that the runs of earlier executions are not counted.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.pipelines_run_kfp_notebook).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Plan the runs
  psap.perf.pipelines.begin:
  register: __pipelines_run_kfp_notebook_plan
"""

RETURN = r"""
application:
  description: Name of the DataSciencePipelinesApplication.
  type: str
  returned: success
endpoint:
  description: URL of the application's API for pods; if it has a Route, the URL of the Route.
  type: str
  returned: success
image:
  description: Image of the notebook.
  type: str
  returned: success
pipeline:
  description: Name of the pipeline to create.
  type: str
  returned: success
runs:
  description: Names of the runs to create.
  type: list
  elements: str
  returned: success
run_delay_s:
  description: Seconds between the starts of two runs.
  type: float
  returned: success
"""
