# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: profile
short_description: Save pprof profiles of the control plane and of Kueue
version_added: 0.1.0
description:
  - Fetches the profiles of all components concurrently, so that CPU profiles are of the same time, and keeps each as
    C(artifacts/profiles/<component>_<pod>_<profile>.pb.gz). C(artifacts/profiles.json) lists them, with errors.
  - The API server is reached by its address. Other components are reached by a port-forward, which needs no further
    pod. They authenticate the user by the client certificate of the kubeconfig, or by a token of the argument
    C(service_account).
  - If a profile is missing, it fails after it has fetched all others.
  - Its other arguments are its command's, see C(ansible-doc --type role psap.perf.cluster_capture_profiles).
author: The psap.perf developers (@openshift-psap)
options:
  wait:
    description:
      - Whether to wait for the profiles. If not, a process fetches them in the background, and
        M(psap.perf.profiles_end) waits for it.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Fetch the profiles
  psap.perf.profile:
"""

RETURN = r"""
profiles:
  description: The component, profile, pod and times of each, and its C(file) and C(bytes), or its C(error).
  type: list
  elements: dict
  returned: always
directory:
  description: The directory of the command.
  type: str
  returned: success
"""
