# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """How openshift-install is run."""

    DOCUMENTATION = r"""
options:
  program:
    description: The program openshift-install, by its path or its name in E(PATH); that of the record if empty.
    type: str
    default: ""
  credentials:
    description:
      - Reference to the credentials of AWS, as the program C(aws) keeps them; those of the record, else what the
        environment has, if empty.
    type: str
    default: ""
  timeout:
    description: How long it may take in all, in seconds or as V(90m).
    type: str
    required: true
"""
