"""The project that the driver is tested with: a flow and commands that need no cluster."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.programs import PROJECT

_OWN_FILES = PROJECT / "tests/data/driver_project"
_COLLECTION = "collections/ansible_collections/psap/perf"
_LINKED = (
    "ansible.cfg",
    "playbooks/flow.yml",
    "playbooks/toolbox.yml",
    f"{_COLLECTION}/meta",
    f"{_COLLECTION}/plugins",
    f"{_COLLECTION}/roles/command",
)
_SHARED = "playbooks/shared"
_SETTINGS = f"{_SHARED}/settings.yml"
# prefixes of the names of the shared settings that need neither clusters nor QUADS
_SETTINGS_WITHOUT_CLUSTER = (
    *("matrix_", "export_", "notify_", "report_", "github_", "history_", "regress_", "run_only_if_new"),
    "clusters_create_driver_arguments",
)


def make_demo_project(folder: Path) -> Path:
    """Create the project in an empty folder: the demo's own files, and links to those that all flows share.

    Args:
        folder: Folder of the project; created if missing.

    Returns:
        *folder*.
    """
    shutil.copytree(_OWN_FILES, folder, dirs_exist_ok=True)
    shared = [path.relative_to(PROJECT) for path in (PROJECT / _SHARED).glob("*.yml")]
    for name in (*_LINKED, *(str(path) for path in shared if str(path) != _SETTINGS)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(PROJECT / name)
    (folder / "playbooks/group_vars").symlink_to(folder / "group_vars")
    (folder / "playbooks/action_plugins").symlink_to(PROJECT / "tests/data/action_plugins")
    (folder / _SETTINGS).write_text(yaml.safe_dump(_shared_settings(), sort_keys=False), encoding="utf-8")
    return folder


def _shared_settings() -> dict[str, Any]:
    declared = yaml.safe_load((PROJECT / _SETTINGS).read_text(encoding="utf-8"))
    options = {
        name: option for name, option in declared["options"].items() if name.startswith(_SETTINGS_WITHOUT_CLUSTER)
    }
    left_out = declared["options"].keys() - options
    rules = [rule for rule in declared["rules"] if not left_out.intersection(re.findall(r"\w+", rule["assert"]))]
    return {**declared, "options": options, "rules": rules}
