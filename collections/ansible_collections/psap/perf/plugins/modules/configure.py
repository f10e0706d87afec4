# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: configure
short_description: Set values in the YAML document of a ConfigMap
version_added: 0.1.0
description:
  - For the configuration of programs that read one text with all their settings. Other values stay as they are, whoever
    set them; a text that says all of it already is not touched. One that is changed is written anew, without its
    comments.
  - A ConfigMap that is missing is made. A text that is no YAML dictionary is refused.
  - In check mode it says what would change.
author: The psap.perf developers (@openshift-psap)
options:
  name:
    description: The ConfigMap's name.
    type: str
    required: true
  namespace:
    description: Where it lives.
    type: str
    required: true
  key:
    description: Its key that holds the text.
    type: str
    required: true
  values:
    description: The values. Dictionaries merge by key, null takes a key away, everything else is replaced.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Enable the monitoring of users' workloads
  psap.perf.configure:
    name: cluster-monitoring-config
    namespace: openshift-monitoring
    key: config.yaml
    values: {enableUserWorkload: true}
"""

RETURN = r"""
text:
  description: The text as it then is.
  type: str
  returned: success
"""
