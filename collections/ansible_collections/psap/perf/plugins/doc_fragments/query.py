# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """Which objects a verb is about."""

    DOCUMENTATION = r"""
options:
  kind:
    description: The objects' kind.
    type: str
    required: true
  api_version:
    description:
      - The objects' API group, such as C(batch), of which the version is used that the server prefers; or group and
        version, such as C(batch/v1). The group is known for the kinds of Kubernetes, OpenShift and the operators that
        the collection deals with. Give it only for another kind, or another of the same name, such as Knative's
        Service.
    type: str
  name:
    description: One object by its name.
    type: str
  namespace:
    description: Where the objects live; all namespaces if not given.
    type: str
  label_selector:
    description: Which objects, as kubectl's C(-l).
    type: str
"""
