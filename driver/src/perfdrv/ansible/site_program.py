"""The program that reads sites with Ansible, whose loader provides the collection.

python -m perfdrv.ansible.site_program PROJECT INVENTORIES   (a JSON list; JSON on stdout)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import msgspec


def main() -> None:
    """Print the site that Ansible reads for each inventory: a path, "" for ansible.cfg's, null for none."""
    # inventory plugins and scripts may print to stdout, which is reserved for the answer
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

    root, inventories = Path(sys.argv[1]), json.loads(sys.argv[2])
    answer.write(msgspec.json.encode([read_site(root, inventory) for inventory in inventories]))
    answer.close()


if __name__ == "__main__":
    main()
