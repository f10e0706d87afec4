"""Sites, read by Ansible in a separate process, because Ansible needs its own loader of collections."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

import msgspec
from ansible_collections.psap.perf.plugins.module_utils.settings.site import Site

from perfdrv.ansible.environment import clean_environment
from perfdrv.ansible.private_directory import private_directory
from perfdrv.errors import DriverError, UsageError
from perfdrv.project import Project

# the plugin of presets adds nothing here, and its import takes a tenth of a second
_VARS_PLUGINS = {"ANSIBLE_VARS_ENABLED": "host_group_vars"}


def read_site(project: Project, site: str | None) -> Site:
    """Return the site that Ansible reads.

    Args:
        site: A name or a path; None for the inventory in ansible.cfg.

    Raises:
        UsageError: There is no such site, or Ansible cannot read its inventory.
    """
    (found,) = read_inventories(project, [str(project.inventory(site)) if site else ""])
    if found.problem:
        raise UsageError(f"Ansible cannot read the inventory of the site {site or '(default)'}: {found.problem}")
    return found


def read_inventories(project: Project, inventories: Sequence[str | None]) -> list[Site]:
    """Return the site that Ansible reads for each inventory.

    Args:
        inventories: Paths; "" for the inventory in ansible.cfg, None for no inventory.

    Raises:
        DriverError: Ansible does not start.
    """
    command = [sys.executable, "-m", "perfdrv.ansible.site_program", str(project.root), json.dumps(list(inventories))]
    with private_directory() as private:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            cwd=project.root,
            env=clean_environment(project.root, private.path) | private.variables() | _VARS_PLUGINS,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    if done.returncode != 0:
        raise DriverError(f"Ansible cannot read the project's sites: {done.stderr.decode(errors='replace').strip()}")
    return msgspec.json.decode(done.stdout, type=list[Site])
