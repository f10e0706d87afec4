"""Writes the drawings of ``docs/architecture.md``: which room of each package imports which, read from the code.

Run it after moving a module or adding an import between rooms: ``python docs/generate_architecture.py``. A test fails
when that was forgotten; which room may import which is tested beside each package (``test_rooms.py``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs/architecture.md"
COLLECTION = "ansible_collections.psap.perf.plugins"
PACKAGES = ("perfanalysis", "perfdrv", "perflab", f"{COLLECTION}.module_utils", f"{COLLECTION}.plugin_utils")


def drawing(package: str) -> str:
    """A Mermaid flow chart of a package's rooms: its folders, with their number of modules, and its modules.

    An arrow is left out where a longer way of arrows says the same.
    """
    graph = grimp.build_graph(package)
    rooms = sorted(graph.find_children(package))
    sizes = {room: len(graph.find_descendants(room)) for room in rooms}
    for room, size in sizes.items():
        if size:
            graph.squash_module(room)
    lines = ["```mermaid", "flowchart LR"]
    for room in rooms:
        name = room.rpartition(".")[2]
        lines.append(f'  {name}["{name}{f"/ ({sizes[room]})" if sizes[room] else ".py"}"]')
    for room in rooms:
        targets = graph.find_modules_directly_imported_by(room) & set(rooms)
        for target in sorted(targets):
            if not any(graph.chain_exists(importer=other, imported=target) for other in targets - {target}):
                lines.append(f"  {room.rpartition('.')[2]} --> {target.rpartition('.')[2]}")
    return "\n".join([*lines, "```"])


def page(text: str) -> str:
    """The text of the page with the drawings between their marks made anew."""
    for package in PACKAGES:
        mark = f"<!-- rooms of {package} -->"
        text = re.sub(
            f"{re.escape(mark)}.*?<!-- end -->",
            lambda _, m=mark, p=package: f"{m}\n\n{drawing(p)}\n\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    sys.path.insert(0, str(PROJECT / "collections"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
