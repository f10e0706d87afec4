"""Builds the site: `python -m docs.website [FOLDER]`, else into build/site. It needs Graphviz's `dot`, no network."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from perfdrv.collection import activate
from sphinx.cmd.build import build_main

PROJECT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Assemble the pages in a folder of their own, and let Sphinx build the site; any warning is an error."""
    parser = argparse.ArgumentParser(description="Build the site of the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT / "build/site", help="where the site goes")
    site: Path = parser.parse_args().folder
    if shutil.which("dot") is None:
        sys.exit("The drawings of the architecture need Graphviz: install dot, or run make docs, which does.")
    activate(PROJECT)
    # these import the collection, which is known by now
    from docs.website.assembling import assemble
    from docs.website.collection import CollectionError

    with tempfile.TemporaryDirectory(prefix="psap-perf-site-") as folder:
        source = Path(folder, "source")
        try:
            assemble(source)
        except CollectionError as error:
            sys.exit(str(error))
        # Sphinx keeps pages that are gone
        shutil.rmtree(site, ignore_errors=True)
        options = ("--quiet", "--fail-on-warning", "--jobs", "2", "--doctree-dir", f"{folder}/doctrees")
        code = build_main(["--builder", "html", *options, str(source), str(site)])
    if not code:
        print(f"{site / 'index.html'} is the site")
    return code


if __name__ == "__main__":
    sys.exit(main())
