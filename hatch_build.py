"""Adds the collection with its flows to the wheel, in the layout of Galaxy's tarball: tests/scripts/copy_collection.sh.

`ansible-playbook psap.perf.<flow>` would find a folder of that name before the playbook. In the published collection,
the folders of flows are therefore in flows/, beside playbooks/.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COLLECTION = "ansible_collections/psap/perf"
# folders and files of the clone by their places in the collection
PLACES = {
    f"collections/{COLLECTION}": "",
    "ansible.cfg": "ansible.cfg",
    "presets": "presets",
    "inventories/lab": "inventories/lab",
    "inventories/local": "inventories/local",
    # the link of that name in playbooks/ is missing in an sdist
    "group_vars": "playbooks/group_vars",
}


class CollectionHook(BuildHookInterface):
    """Maps each file and folder of the collection to its place in the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the places; an editable installation has none of them, because a copy would hide the clone's changes."""
        if version == "editable":
            return
        root, places = Path(self.root), build_data["force_include"]
        for source, place in PLACES.items():
            places[str(root / source)] = f"{COLLECTION}/{place}".rstrip("/")
        for path in sorted((root / "playbooks").iterdir()):
            if path.name != "group_vars":
                places[str(path)] = f"{COLLECTION}/{'flows' if path.is_dir() else 'playbooks'}/{path.name}"
