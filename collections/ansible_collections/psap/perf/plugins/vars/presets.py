# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: presets
short_description: Provide flow settings from declared defaults and presets
version_added: 0.1.0
description:
  - Returns the defaults that C(meta/argument_specs.yml) of the roles and C(playbooks/<flow>/settings.yml) declare,
    below the inventory.
  - Returns the values of the chosen presets, above group_vars and host_vars, below the variables of plays and
    includes. C(-e @presets/x.yml) chooses one, C(perf_presets) in extra vars or a site chooses several.
  - Returns the variables of a lane's host for the lane.
  - Returns, above presets, the settings of a pull request, from the file in the extra variable
    C(perf_pull_arguments).
  - Returns the recorded values of the former run in the extra variable C(perf_replay), if set.
  - Converts the texts of C(-e name=text) to the declared type, once, before the first variable is read.
author: The psap.perf developers (@openshift-psap)
options:
  _supported:
    description: Nothing is configured; enable the plugin in C(vars_plugins_enabled) of ansible.cfg.
    type: str
"""

from pathlib import Path
from typing import Any

from ansible import constants, context
from ansible.errors import AnsibleParserError
from ansible.inventory.group import InventoryObjectType
from ansible.plugins.vars import BaseVarsPlugin
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import PresetError
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project, find_project
from ansible_collections.psap.perf.plugins.plugin_utils.settings.extra_vars import prepare_extra_vars
from ansible_collections.psap.perf.plugins.plugin_utils.settings.preset_layers import PresetLayers

# the folder of all collections in the path of a collection's playbooks
_COLLECTIONS = slice(-4, -3)


class VarsModule(BaseVarsPlugin):  # type: ignore[misc]  # ansible-core has no types
    """Provides settings; stateless, so that Ansible keeps one instance, which caches unchanging files."""

    is_stateless = True

    def __init__(self) -> None:
        """Read nothing before the first group or host."""
        super().__init__()
        self.layers: PresetLayers | None = None

    def get_vars(self, loader: Any, path: str, entities: Any) -> dict[str, Any]:
        """Ansible's entry point, called for a group or a host and each folder that may contain variables."""
        super().get_vars(loader, path, entities)
        if context.CLIARGS.get("export"):
            # AWX stores a site's exported variables as its own, so declared defaults would override the project
            return {}
        try:
            return self._variables(loader, path, entities if isinstance(entities, list) else [entities])
        except PresetError as error:
            raise AnsibleParserError(str(error), obj=error.where.tagged) from error
        except PerfError as error:
            raise AnsibleParserError(str(error)) from error

    def _variables(self, loader: Any, path: str, entities: list[Any]) -> dict[str, Any]:
        if self.layers is None:
            project = Project(_project_root(loader))
            self.layers = PresetLayers(project, loader, prepare_extra_vars(project, loader))
        given: dict[str, Any] = {}
        for entity in entities:
            if entity.base_type is InventoryObjectType.HOST:
                given.update(self.layers.for_host(entity, path))
            elif entity.name == "all":
                given.update(self.layers.for_everyone(entity, path))
        return given


def _project_root(loader: Any) -> Path:
    """Return the folder of ansible.cfg: above the playbook, unless a collection has it, else the file in force."""
    playbook = Path(loader.get_basedir())
    in_collection = playbook.parts[_COLLECTIONS] == ("ansible_collections",)
    found = None if in_collection else find_project(playbook)
    if found is not None:
        return found
    return Path(constants.CONFIG_FILE).parent if constants.CONFIG_FILE else Path.cwd()
