# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations


class ModuleDocFragment:
    """The objects that a verb acts on."""

    DOCUMENTATION = r"""
options:
  kind:
    description: The objects' kind.
    type: str
    required: true
  api_version:
    description:
      - The objects' API group, such as C(batch), in the version that the server prefers; or group and version, such as
        C(batch/v1). The group is known for the kinds of Kubernetes, OpenShift and the operators that the collection
        uses. Set it only for another kind, or another of the same name, such as Knative's Service.
    type: str
  name:
    description: Name of a single object.
    type: str
  namespace:
    description: Namespace of the objects; all namespaces if not given.
    type: str
  label_selector:
    description: Label selector of the objects, in the format of kubectl's C(-l).
    type: str
"""
