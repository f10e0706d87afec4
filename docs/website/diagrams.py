"""Draws the flow charts of Mermaid that pages contain with Graphviz when the site is built: no script, no network.

Of Mermaid's language it knows what docs/generate_architecture.py writes: nodes with a text, and arrows.
"""

from __future__ import annotations

import re
from typing import Any

from docutils.nodes import Node
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.ext.graphviz import graphviz
from sphinx.util.docutils import SphinxDirective

_NODE = re.compile(r'(\w+)\["([^"]+)"\]')
_ARROW = re.compile(r"(\w+) --> (\w+)")
_LOOKS = """
rankdir=LR; bgcolor=transparent; ranksep=0.35; nodesep=0.15;
node [shape=box, style=rounded, fontname="sans-serif", fontsize=11, height=0.3, margin="0.12,0.04"];
edge [arrowsize=0.6, color="#888888"];
"""


class FlowChart(SphinxDirective):
    """A fence of the language mermaid."""

    has_content = True

    def run(self) -> list[Node]:
        """The drawing."""
        first, *lines = [line.strip() for line in self.content if line.strip()]
        if first != "flowchart LR":
            raise ExtensionError(f"{self.get_location()}: {first!r} is no flow chart that the site can draw")
        node: Any = graphviz()
        node["code"] = f"digraph {{ {_LOOKS} {' '.join(map(self._statement, lines))} }}"
        node["options"] = {"docname": self.env.docname}
        node["alt"] = "Which room imports which"
        node["classes"] = ["diagram"]
        self.set_source_info(node)
        return [node]

    def _statement(self, line: str) -> str:
        if found := _NODE.fullmatch(line):
            return f'{found[1]} [label="{found[2]}"];'
        if found := _ARROW.fullmatch(line):
            return f"{found[1]} -> {found[2]};"
        raise ExtensionError(f"{self.get_location()}: {line!r} is no node and no arrow")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("mermaid", FlowChart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
