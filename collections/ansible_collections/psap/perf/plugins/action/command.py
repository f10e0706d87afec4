# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json, write_text, write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_command
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, read_command
from ansible_collections.psap.perf.plugins.modules.command import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec, command_arguments
from ansible_collections.psap.perf.plugins.plugin_utils.leases import take_lease
from ansible_collections.psap.perf.plugins.plugin_utils.settings.inventory_layers import LANE_OF
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    changes_cluster: bool


class ActionModule(PerfAction):
    """Open the artifact directory of the command whose dependency this is."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Create the directory, with the arguments and the first status."""
        # the last of the chain is psap.perf.command itself
        chain = (self._task.get_dep_chain() or [])[:-1]
        if not chain:
            raise UsageError(
                "psap.perf.command opens a command's directory; make it a dependency of the command's role"
            )
        role = chain[-1]
        name = _short(role)
        environment = RunEnvironment.read()
        spec = read_command(Path(role._role_path), Path(role._role_path))
        # a role of the user's project has its defaults in defaults/main.yml
        if role._role_collection == self._task._role._role_collection:
            _refuse_missing_defaults(spec, context.variables)
        if (context.run_directory / STOP_FILE).exists() and not context.finalizing:
            raise Interrupted(f"{name} does not start: the run was asked to stop")
        lease = take_lease(context, name) if context.arguments(Arguments).changes_cluster else {}
        opened = context.opened_directories()
        enclosing = next((outer for outer in reversed(chain[:-1]) if _short(outer) in opened), None)
        directory = open_command(
            context.run_directory,
            Path(opened[_short(enclosing)]) if enclosing else None,
            self._groups(context, enclosing, (role, self._task._role)),
            name,
            environment.attempt,
        )
        given = command_arguments(spec, context.variables)
        arguments = {option.name: value for option, value in given}
        write_yaml(directory / "args.yml", {"schema": "psap.perf/args/1", "role": name, "args": arguments})
        write_text(directory / "command.txt", _rerun(environment, context, name, arguments))
        write_json(directory / "status.json", _first_status(context, name, environment.attempt))
        outer = {short: opened[short] for short in map(_short, chain[:-1]) if short in opened}
        return VerbResult(
            values={
                "directory": str(directory),
                "id": hashlib.sha1(str(directory).encode(), usedforsecurity=False).hexdigest()[:12],
                "directories": {**outer, name: str(directory)},
                "arguments": {option.short_name: value for option, value in given},
                "check_mode": context.check_mode,
                **lease,
            }
        )

    def _groups(self, context: VerbContext, enclosing: Any, own: tuple[Any, ...]) -> list[str]:
        """Return the groups around the command, from the enclosing command if there is one, outermost first."""
        found = [str(self._templar.template(group)) for group in self._group_values(enclosing, own)]
        found.reverse()
        # a cell in a separate process already has its directory
        alone = f"cell__{RunEnvironment.read().cell}"
        found = [group for group in found if group != alone]
        lane = context.variables.get("perf_lane")
        if lane and enclosing is None:
            found.insert(1 if self._play_group() else 0, f"lane__{lane}")
        return found

    def _group_values(self, enclosing: Any, own: tuple[Any, ...]) -> Iterator[Any]:
        """Yield ``perf_group`` of the task's parents, innermost first."""
        node = self._task._parent
        while node is not None:
            if enclosing is not None and not any(node._role is role for role in (*own, enclosing)):
                return
            if "perf_group" in node.vars:
                yield node.vars["perf_group"]
            node = node._parent
        if enclosing is None and self._play_group():
            yield self._play_group()

    def _play_group(self) -> Any:
        return self._task._parent._play.vars.get("perf_group")


def _refuse_missing_defaults(spec: CommandSpec, variables: Mapping[str, Any]) -> None:
    if any(option.name not in variables for option in spec.own_optional):
        raise UsageError(
            f"the defaults of {spec.role} are missing: set vars_plugins_enabled = host_group_vars, psap.perf.presets "
            "below [defaults] of ansible.cfg, or install the published collection"
        )


def _rerun(environment: RunEnvironment, context: VerbContext, role: str, arguments: dict[str, Any]) -> str:
    """Return a shell line that runs the command alone, with these arguments; a lane exists only in its flow."""
    host = context.variables.get(LANE_OF, context.host)
    values = {"perf_command": role, "perf_command_host": host, **_cluster(context), **arguments}
    inventory = [word for source in environment.inventory for word in ("-i", source)]
    own = Path("playbooks/toolbox.yml")
    playbook = str(own) if (environment.project / own).is_file() else "psap.perf.toolbox"
    words = ["ansible-playbook", playbook, *inventory, "-e", json.dumps(values)]
    return f"cd {shlex.quote(str(environment.project))} && {shlex.join(words)}\n"


def _cluster(context: VerbContext) -> dict[str, str]:
    """Return the kubeconfig and context of the command's cluster, if it has one."""
    try:
        return Access.from_variables(context.variables).variables()
    except PerfError:
        # the verb that needs a cluster reports the error
        return {}


def _short(role: Any) -> str:
    return str(role.get_name(include_role_fqcn=False))


def _first_status(context: VerbContext, role: str, attempt: int) -> dict[str, Any]:
    return {
        "schema": "psap.perf/command/1",
        "role": role,
        "host": context.host,
        "lane": context.variables.get("perf_lane"),
        "cell": (context.variables.get("perf_cell") or {}).get("index"),
        "status": "running",
        "changed": False,
        "started": utc_now(),
        "ended": None,
        "attempt": attempt,
        "error": None,
    }
