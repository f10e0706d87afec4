#!/usr/bin/python
# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: archive
short_description: Pack or unpack files of a host
version_added: 0.1.0
description:
  - Packs a file or the content of a folder into an archive in a dedicated directory, unpacks one from there, or removes
    the directory. It runs on the host; the verb M(psap.perf.hosts.retrieve) calls it.
author: The psap.perf developers (@openshift-psap)
options:
  state:
    description:
      - V(present) creates the directory, V(packed) packs O(path) into the file C(archive) there, V(unpacked) unpacks
        that into O(path), V(absent) removes the directory, and O(path) if set.
    type: str
    choices: [present, packed, unpacked, absent]
    required: true
  directory:
    description: Directory with the archive; only its user can read it.
    type: path
    required: true
  path:
    description: File or folder to pack, or folder to unpack into.
    type: path
  required:
    description: Fail if there is nothing to pack.
    type: bool
    default: true
  most_bytes:
    description: Maximum size before compression.
    type: int
    default: 1073741824
"""

EXAMPLES = r"""
- name: Pack results
  psap.perf.hosts.archive:
    state: packed
    directory: /var/tmp/psap.perf/copy-1
    path: /var/tmp/results
"""

RETURN = r"""
packed:
  description: The archive, its numbers of files and bytes, and its SHA-256.
  type: dict
  returned: when packed, and there was something to pack
"""

import contextlib
import shutil
from dataclasses import asdict
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.psap.perf.plugins.module_utils.hosts.archives import ArchiveError, pack, unpack


def remove(path: Path) -> None:
    """Remove a file, a link or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def main() -> None:
    """Run the module on the host."""
    states = ["present", "packed", "unpacked", "absent"]
    kinds = {
        "state": {"type": "str", "choices": states, "required": True},
        "directory": {"type": "path", "required": True},
        "path": {"type": "path"},
        "required": {"type": "bool", "default": True},
        "most_bytes": {"type": "int", "default": 1 << 30},
    }
    needing = [("state", state, ("path",)) for state in ("packed", "unpacked")]
    module = AnsibleModule(argument_spec=kinds, required_if=needing)
    state, directory = module.params["state"], Path(module.params["directory"])
    path = Path(module.params["path"] or "")
    archive, answer = directory / "archive", {}
    if state == "packed" and not module.params["required"] and not path.exists():
        module.exit_json(changed=False)
    try:
        if state == "absent":
            if module.params["path"]:
                remove(path)
            shutil.rmtree(directory, ignore_errors=True)
            with contextlib.suppress(OSError):
                # other work may use it
                directory.parent.rmdir()
        else:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if state == "packed":
            answer["packed"] = asdict(pack(path, archive, module.params["most_bytes"]))
        elif state == "unpacked":
            unpack(archive, path)
    except (ArchiveError, OSError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=state != "packed", **answer)


if __name__ == "__main__":
    main()
