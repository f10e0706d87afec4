"""The shell of a page: an HTML file that needs nothing else, made from templates that ship with the package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from perfanalysis.drawing.blocks import Failure, Note, Remarks, Table, Tiles
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.embed import embedded
from perfanalysis.drawing.palette import DARK, LIGHT, SOLID

FEWEST_TO_SORT = 3
"""Rows from which on a reader can order a table."""


@dataclass(frozen=True)
class Drawn:
    """A figure, the recording it belongs to (empty: the run), its PNG file, and its SVG file where one is written."""

    recording: str
    figure: Figure
    file: str
    svg: str = ""


def page_environment(drawn: Iterable[Drawn], base: str = "") -> Environment:
    """What the templates of pages need: blocks told apart, and charts collected as they are shown.

    `base` leads from the page's folder to the directory that links of cells are in.
    """
    environment = Environment(
        loader=PackageLoader("perfanalysis.drawing", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    kinds = {"figure": Figure, "table": Table, "note": Note, "tiles": Tiles, "remarks": Remarks, "failure": Failure}
    for name, kind in kinds.items():
        environment.tests[name] = lambda block, kind=kind: isinstance(block, kind)
    charts = _Charts(drawn)
    environment.globals["chart"] = charts.register
    environment.globals["chart_data"] = charts.text
    environment.globals["href"] = lambda path: href(base, path)
    environment.globals["sortable"] = lambda table: table.sort or len(table.rows) >= FEWEST_TO_SORT
    return environment


def href(base: str, path: str) -> str:
    """A link to a file or folder of the run, relative to the report's folder, so that both can be moved."""
    return quote(f"{base}/{path}" if base else path)


class _Charts:
    """Collects the figures that the templates show, for the script that draws them."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self.data: dict[str, Any] = {}
        self._files = {id(item.figure): item for item in drawn}

    def register(self, figure: Figure, anchor: str) -> dict[str, str]:
        """Take a figure in; returns the identifier its element must have, and its files."""
        wanted = f"chart-{anchor}{figure.name}"
        taken = sum(name == wanted or name.startswith(f"{wanted}--") for name in self.data)
        identifier = f"{wanted}--{taken + 1}" if taken else wanted
        self.data[identifier] = embedded(figure)
        item = self._files[id(figure)]
        return {"id": identifier, "file": item.file, "svg": item.svg}

    def text(self) -> Markup:
        """All figures taken in so far, as JSON that cannot end the script element it stands in."""
        return _json(self.data)


def _json(value: object) -> Markup:
    data = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(data.replace("<", "\\u003c"))  # noqa: S704


def page_assets() -> dict[str, Markup]:
    """Style and script, which stand in the page itself; the script begins with the colours of layers."""
    folder = files("perfanalysis.drawing") / "templates"
    # Markup is safe here: both are files of this package, none of their text comes from a run.
    css, script = (Markup((folder / file).read_text(encoding="utf-8")) for file in ("style.css", "charts.js"))  # noqa: S704
    colours = _json({"light": LIGHT, "dark": DARK, "solid": SOLID})
    return {"css": css, "js": Markup("const PALETTE = {};\n{}").format(colours, script)}
