"""A site, read by Ansible: its hosts, and the layers of its inventory and vars files for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import Layer
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry

LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class Site:
    """A site, read by Ansible.

    Attributes:
        hosts: The layers below the presets of each host, low to high; always includes ``localhost``.
        inline: The variables of groups and hosts in the inventory itself.
        vars_files: For each group or host the absolute paths of its ``group_vars`` or ``host_vars`` files.
        problem: Why Ansible cannot read the inventory; empty if it can.
    """

    hosts: Mapping[str, tuple[Layer, ...]] = field(default_factory=lambda: {LOCALHOST: ()})
    inline: tuple[Entry, ...] = ()
    vars_files: tuple[tuple[str, ...], ...] = ()
    problem: str = ""

    def layers_of(self, host: str = LOCALHOST) -> tuple[Layer, ...]:
        """Return the layers below the presets of *host*, low to high.

        Raises:
            UsageError: If the site has no such host.
        """
        if host not in self.hosts:
            way_out = did_you_mean(host, self.hosts) or f"; its hosts are {', '.join(sorted(self.hosts))}"
            raise UsageError(f"the site has no host {host}{way_out}")
        return self.hosts[host]

    def files(self) -> tuple[tuple[Path, ...], ...]:
        """Return the vars files of each group or host."""
        return tuple(tuple(map(Path, files)) for files in self.vars_files)
