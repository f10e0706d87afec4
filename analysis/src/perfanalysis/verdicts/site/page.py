"""Write the page of a site."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from perfanalysis.drawing.page import embedded, page_assets, page_environment
from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import lab_of, labs_together
from perfanalysis.files.documents import Document, write_text
from perfanalysis.verdicts.site.document import SiteOptions, site_document

FILE = "history.html"
"""The page's name: an export to a store has an index.html with the list of its files."""


def write_site(documents: Sequence[Document], title: str, folder: Path, options: SiteOptions) -> Path:
    """Write the page of a history's documents into *folder*, and return its path.

    Raises UsageError if there is no document.
    """
    if not documents:
        raise UsageError(f"{title} contains no run: nothing to show")
    data = site_document(documents, options)
    script = (files("perfanalysis.drawing") / "templates" / "site.js").read_text(encoding="utf-8")
    page = folder / FILE
    text = (
        page_environment(())
        .get_template("site.html.j2")
        .render(
            title=title,
            data=embedded(data),
            runs=len(data["runs"]),
            tests=len(data["tests"]),
            series=len(data["series"]),
            flows=sorted({run["flow"] for run in data["runs"]}),
            marks=labs_together(map(lab_of, documents)).phrases,
            margin=f"{100 * options.judging.margin:g} %",
            recent=options.judging.recent,
            # Markup is safe here: the script is a file of this package
            script=Markup(script),  # noqa: S704
            assets=page_assets(),
        )
    )
    write_text(page, text)
    return page
