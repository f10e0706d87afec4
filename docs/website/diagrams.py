"""The Sphinx directive ``rooms``: a diagram of a package's folders and modules and their imports.

It reads the code during the build of the site. Graphviz draws the diagram.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
from docutils.nodes import Node
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.ext.graphviz import graphviz
from sphinx.util.docutils import SphinxDirective

COLLECTIONS = Path(__file__).resolve().parents[2] / "collections"
_STYLE = """
rankdir=LR; bgcolor=transparent; ranksep=0.35; nodesep=0.15;
node [shape=box, style=rounded, fontname="sans-serif", fontsize=11, height=0.3, margin="0.12,0.04"];
edge [arrowsize=0.6, color="#888888"];
"""


def statements(package: str) -> Iterator[str]:
    """Yield the Graphviz statements of *package*: a node for each module, and for each folder with its module count.

    An import from A to C is left out if A imports B, and B leads to C.

    Raises:
        grimp.exceptions.PackageNotFound, ModuleNotFoundError: the package does not exist.
    """
    graph = grimp.build_graph(package)
    rooms = sorted(graph.find_children(package))
    sizes = {room: len(graph.find_descendants(room)) for room in rooms}
    for room, size in sizes.items():
        if size:
            graph.squash_module(room)
    names = {room: room.rpartition(".")[2] for room in rooms}
    for room, name in names.items():
        yield f'{name} [label="{name}{f"/ ({sizes[room]})" if sizes[room] else ".py"}"];'
    for room in rooms:
        targets = graph.find_modules_directly_imported_by(room) & set(rooms)
        for target in sorted(targets):
            if not any(graph.chain_exists(importer=other, imported=target) for other in targets - {target}):
                yield f"{names[room]} -> {names[target]};"


class Rooms(SphinxDirective):
    """The diagram of the package in the first argument; the content is for readers of the repository."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[Node]:
        """Return the drawing."""
        package = self.arguments[0]
        try:
            drawn = " ".join(statements(package))
        except ModuleNotFoundError as error:
            raise ExtensionError(f"{self.get_location()}: cannot draw {package}: {error}") from error
        node: Any = graphviz()
        node["code"] = f"digraph {{ {_STYLE} {drawn} }}"
        node["options"] = {"docname": self.env.docname}
        node["alt"] = f"The folders of {package} and their imports"
        node["classes"] = ["diagram"]
        self.set_source_info(node)
        return [node]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    # grimp finds packages on the path; the collection's importer is not enough
    if str(COLLECTIONS) not in sys.path:
        sys.path.insert(0, str(COLLECTIONS))
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
