"""Adds the flows to the collection in the wheel, in the layout of Galaxy's tarball: tests/scripts/copy_collection.sh.

`ansible-playbook psap.perf.<flow>` would find a folder of that name before the playbook. In the published collection,
the folders of flows are therefore in flows/, beside playbooks/.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COLLECTION = "ansible_collections/psap/perf"


class FlowsHook(BuildHookInterface):
    """Maps each file and folder of playbooks/ to its place in the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the places to those of pyproject.toml; an editable installation uses the clone's folders."""
        if version == "editable":
            return
        root, places = Path(self.root), build_data["force_include"]
        # the link of that name in playbooks/ is missing in an sdist
        places[str(root / "group_vars")] = f"{COLLECTION}/playbooks/group_vars"
        for path in sorted((root / "playbooks").iterdir()):
            if path.name != "group_vars":
                places[str(path)] = f"{COLLECTION}/{'flows' if path.is_dir() else 'playbooks'}/{path.name}"
