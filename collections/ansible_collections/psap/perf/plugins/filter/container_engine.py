# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: container_engine
short_description: Read the facts of a container engine
version_added: 0.1.0
description:
  - Version, rights, storage, runtime, processors and memory of podman or docker, without names of the host or the user.
author: The psap.perf developers (@openshift-psap)
positional: kind
options:
  _input:
    description: The output of the engine's C(info --format json).
    type: str
    required: true
  kind:
    description: The engine.
    type: str
    choices: [podman, docker]
    required: true
  least:
    description: Minimum version by engine; another engine, or an older version, is an error.
    type: dict
"""

EXAMPLES = r"""
- name: Read the engine's version
  ansible.builtin.set_fact:
    version: "{{ (info | psap.perf.container_engine('podman')).version }}"
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
    """Read the facts of a container engine."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"container_engine": documented(DOCUMENTATION, _read)}


def _read(args: Mapping[str, Any]) -> dict[str, Any]:
    facts = engine_facts(args[INPUT], args["kind"])
    if args["least"]:
        require_version(facts, args["least"])
    return facts
