"""The shell of a page: a self-contained HTML file, rendered from templates of the package."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from perfanalysis.drawing.blocks import Failure, Note, Remarks, Table, Tiles
from perfanalysis.drawing.charts import DARK, DARK_BACKGROUND, LIGHT, LIGHT_BACKGROUND, Chart, Figure
from perfanalysis.drawing.matplotlib import Format, image
from perfanalysis.drawing.plotly import TEMPLATE, faded, fewer, library, plotly_figure
from perfanalysis.files.documents import write_bytes

FEWEST_TO_SORT = 3
"""Number of rows from which a reader can order a table."""


@dataclass(frozen=True)
class Drawn:
    """A figure, its recording (empty: the run), and the name and suffixes of its files; no file without suffixes."""

    recording: str
    figure: Figure
    name: str
    formats: tuple[Format, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of its files."""
        return tuple(f"{self.name}.{form}" for form in self.formats)


def write_images(drawn: Iterable[Drawn], target: Path) -> tuple[Path, ...]:
    """Draw each figure into its files."""
    paths = []
    for item in drawn:
        for file, form in zip(item.files, item.formats, strict=True):
            paths.append(target / file)
            write_bytes(paths[-1], image(item.figure, form))
    return tuple(paths)


def page_environment(drawn: Iterable[Drawn], base: str = "") -> Environment:
    """The data for templates of pages: blocks by type, and charts collected as they are shown.

    `base` leads from the page's folder to the directory that links of cells refer to.
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
    environment.globals["charts"] = charts
    environment.globals["library"] = _library
    environment.globals["href"] = lambda path: href(base, path)
    environment.globals["sortable"] = lambda table: table.sort or len(table.rows) >= FEWEST_TO_SORT
    return environment


def href(base: str, path: str) -> str:
    """Return a link to a file or folder of the run, relative to the report's folder, so that both can be moved."""
    return quote(f"{base}/{path}" if base else path)


class _Charts:
    """Collects the figures that the templates show, for the script that draws them."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self._data: dict[str, Any] = {}
        self._drawn = {id(item.figure): item for item in drawn}

    def register(self, figure: Figure, anchor: str) -> tuple[str, Drawn]:
        """Add a figure and return the identifier of its element, and its files."""
        wanted = f"chart-{anchor}{figure.name}"
        taken = sum(name == wanted or name.startswith(f"{wanted}--") for name in self._data)
        identifier = f"{wanted}--{taken + 1}" if taken else wanted
        item = self._drawn[id(figure)]
        rows = [[_chart(chart) for chart in row] for row in figure.rows]
        self._data[identifier] = {"name": item.name, "title": figure.title, "marks": figure.marks, "rows": rows}
        return identifier, item

    def __bool__(self) -> bool:
        return bool(self._data)

    def text(self) -> Markup:
        """Return all added figures as JSON."""
        return embedded(self._data)


def _chart(chart: Chart) -> dict[str, Any]:
    """Return a chart as the page's script expects it: Plotly's figure and its surroundings."""
    many = fewer(chart)
    count = f"{many:,}".replace(",", "\u202f")
    note = f"Of {count} points, only those that differ visibly are drawn; extremes are always drawn." if many else ""
    label = f"{chart.title}: {chart.y.text} over {chart.x.text}"
    return {"title": chart.title, "label": label, "share": chart.share, "note": note, **plotly_figure(chart)}


def embedded(value: object) -> Markup:
    """Return JSON that cannot end the script element that contains it."""
    data = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(data.replace("<", "\\u003c"))  # noqa: S704


def page_assets() -> dict[str, Markup]:
    """Return style and scripts for embedding in the page; the script for charts begins with the colours of layers."""
    folder = files("perfanalysis.drawing") / "templates"
    # Markup is safe here: all files are part of this package, and none of their text comes from a run.
    css, page, charts = (
        Markup((folder / file).read_text(encoding="utf-8"))  # noqa: S704
        for file in ("style.css", "page.js", "charts.js")
    )
    shades = {"light": (LIGHT, LIGHT_BACKGROUND), "dark": (DARK, DARK_BACKGROUND)}
    colours = embedded({name: (*of, *map(faded, of), back) for name, (of, back) in shades.items()})
    given = Markup("const PALETTE = {}, TEMPLATE = {};\n{}").format(colours, embedded(TEMPLATE), charts)
    return {"css": css, "page": page, "charts": given}


@cache
def _library() -> str:
    """Return plotly.js, gzipped, as base64, with the same bytes each time."""
    return base64.b64encode(gzip.compress(library(), mtime=0)).decode()
