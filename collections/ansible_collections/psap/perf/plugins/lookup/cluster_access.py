# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_access
short_description: Options of kubernetes.core's modules for the cluster of a host
version_added: 0.1.0
description:
  - One dictionary with the options C(kubeconfig), C(context), C(proxy), C(no_proxy) and C(proxy_headers). It is
    resolved like the cluster of this collection's verbs, so that both reach the same one.
  - The host's variables C(perf_kubeconfig), C(perf_kube_context) and C(perf_kube_proxy) come first, then
    E(K8S_AUTH_KUBECONFIG), E(K8S_AUTH_CONTEXT) and E(K8S_AUTH_PROXY), then E(KUBECONFIG). Empty texts are ignored.
  - The C(proxy-url) of the kubeconfig, which the modules themselves ignore, is the C(proxy) if no other is set.
author: The psap.perf developers (@openshift-psap)
options:
  _terms:
    description: Not used.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Take a node out of service
  kubernetes.core.k8s_drain:
    name: worker-0
  module_defaults:
    group/kubernetes.core.k8s: "{{ lookup('psap.perf.cluster_access') }}"
"""

RETURN = r"""
_raw:
  description: The dictionary.
  type: list
  elements: dict
"""

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.plugin_utils.verb import HostVariables


class LookupModule(LookupBase):  # type: ignore[misc]  # ansible-core has no types
    """Looks up the access to a host's cluster."""

    def run(
        self,
        terms: list[str],  # noqa: ARG002 - not used
        variables: Mapping[str, Any] | None = None,
        **_options: Any,
    ) -> list[dict[str, Any]]:
        """Return a list of one dictionary."""
        try:
            return [Access.from_variables(HostVariables(variables or {}, self._templar.template)).module_options()]
        except PerfError as error:
            raise AnsibleError(str(error)) from error
