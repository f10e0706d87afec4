# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: missing_generators
short_description: List the load generators that are unknown or not installed
version_added: 0.1.0
description:
  - Returns a sentence with the command that installs it for each load generator without an environment on this machine.
    Generators that have no package are left out. An unknown name has a sentence too.
author: The psap.perf developers (@openshift-psap)
options:
  _input:
    description: The names of load generators.
    type: list
    elements: str
    required: true
"""

EXAMPLES = r"""
- name: Check that aiperf is installed
  ansible.builtin.assert:
    that: generators | psap.perf.missing_generators | length == 0
  vars: {generators: [aiperf]}
"""

RETURN = r"""
_value:
  description: The sentences.
  type: list
  elements: str
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import program_of
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """List the load generators that are not installed."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"missing_generators": documented(DOCUMENTATION, _missing)}


def _missing(args: Mapping[str, Any]) -> list[str]:
    found = []
    for name in args[INPUT]:
        try:
            generator = generator_of(name)
            if generator.installation:
                program_of(generator, "")
        except UsageError as error:
            found.append(str(error))
    return found
