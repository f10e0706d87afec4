# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: container_engine
short_description: Read what a container engine says of itself
version_added: 0.1.0
description:
  - Version, rights, storage, runtime, processors and memory of podman or docker, without names of the host or the user.
author: The psap.perf developers (@openshift-psap)
positional: kind
options:
  _input:
    description: What C(info --format json) of the engine said.
    type: str
    required: true
  kind:
    description: The engine.
    type: str
    choices: [podman, docker]
    required: true
  least:
    description: The lowest version that will do, by engine; another engine, or an older one, is an error.
    type: dict
"""

EXAMPLES = r"""
- name: Read the engine's version
  ansible.builtin.set_fact:
    version: "{{ (said | psap.perf.container_engine('podman')).version }}"
"""

RETURN = r"""
_value:
  description: The facts.
  type: dict
  sample: {engine: podman, version: 5.4.0, rootless: true, storage_driver: overlay, runtime: crun, cpus: 8}
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.hosts.engines import engine_facts, require_version
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Read what a container engine says of itself."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The one of this file."""
        return {"container_engine": documented(DOCUMENTATION, _read)}


def _read(args: Mapping[str, Any]) -> dict[str, Any]:
    facts = engine_facts(args[INPUT], args["kind"])
    if args["least"]:
        require_version(facts, args["least"])
    return facts
