# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: awx_survey
short_description: The survey of a flow, for AWX
version_added: 0.1.0
description:
  - The questions that AWX asks before it starts a flow, one for each setting that the flow declares, after its presets.
  - No question is required. A setting without an answer has the value of presets, or of the template's own variables.
    Secrets are left out.
author: The psap.perf developers (@openshift-psap)
options:
  _terms:
    description: Names of flows.
    type: list
    elements: str
    required: true
  project:
    description: The folder of the project.
    type: path
    required: true
  shared:
    description: Names of shared settings to include.
    type: list
    elements: str
    default: []
  values:
    description:
      - The extra variables of the survey's template. They become the defaults of its questions, which in AWX override
        the variables of the template. A setting whose value is not a possible answer has no question.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Create the job template
  awx.awx.job_template:
    name: Scale test
    survey_enabled: true
    survey_spec: "{{ lookup('psap.perf.awx_survey', 'scale_test', project=playbook_dir ~ '/..') }}"
"""

RETURN = r"""
_raw:
  description: The surveys, for C(survey_spec) of C(awx.awx.job_template).
  type: list
  elements: dict
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import survey


class LookupModule(LookupBase):  # type: ignore[misc]  # ansible-core has no types
    """Surveys of flows."""

    def run(self, terms: list[str], variables: Mapping[str, Any] | None = None, **options: Any) -> list[dict[str, Any]]:
        """Return one survey for each flow."""
        self.set_options(var_options=variables, direct=options)
        project, values = Project(Path(self.get_option("project"))), self.get_option("values")
        shared = list(map(str, self.get_option("shared")))
        try:
            return [survey(project, str(flow), shared, values) for flow in terms]
        except PerfError as error:
            raise AnsibleError(str(error)) from error
