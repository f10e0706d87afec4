# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: folder_parts
short_description: A local folder as the content of ConfigMaps
version_added: 0.1.0
description:
  - The files of a folder of the controller and of its subfolders, in as few ConfigMaps as possible. Hidden files are
    left out, as are links that lead out of the folder.
author: The psap.perf developers (@openshift-psap)
options:
  _terms:
    description: One folder.
    type: list
    elements: path
    required: true
"""

EXAMPLES = r"""
parts: "{{ query('psap.perf.folder_parts', 'site') }}"
"""

RETURN = r"""
_raw:
  description: For each ConfigMap C(content), base64 by key, and C(paths), below the folder, by key.
  type: list
  elements: dict
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.folders import parts_of


class LookupModule(LookupBase):  # type: ignore[misc]  # ansible-core has no types
    """Reads folders of the controller."""

    def run(
        self,
        terms: list[str],
        variables: Mapping[str, Any] | None = None,  # noqa: ARG002
        **_options: Any,
    ) -> list[dict[str, Any]]:
        """Return one dictionary for each ConfigMap."""
        try:
            return [asdict(part) for term in terms for part in parts_of(Path(term).expanduser())]
        except PerfError as error:
            raise AnsibleError(str(error)) from error
