"""Builds the site: `python -m docs.website [FOLDER]`, default build/site. Needs Graphviz's `dot`, but no network."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from perfdrv.collection import activate
from perfdrv.errors import EXIT_FAILED, EXIT_INTERRUPTED, exit_code_of
from sphinx.cmd.build import build_main

PROJECT = Path(__file__).resolve().parents[2]


def build(site: Path) -> int:
    """Assemble the pages in a temporary folder and build the site from them; replace *site* if this succeeds.

    Any warning of Sphinx is an error. Returns the exit code.
    """
    activate(PROJECT)
    # this imports the collection, which can be imported from here on
    from docs.website.assembling import assemble

    with tempfile.TemporaryDirectory(prefix="psap-perf-site-") as folder:
        source, built = Path(folder, "source"), Path(folder, "site")
        assemble(source)
        options = ("--quiet", "--fail-on-warning", "--jobs", "2", "--doctree-dir", f"{folder}/doctrees")
        code = build_main(["--builder", "html", *options, str(source), str(built)])
        if code:
            return EXIT_FAILED
        shutil.rmtree(site, ignore_errors=True)
        site.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, site)
    print(f"{site / 'index.html'} is the site")
    return 0


def main() -> int:
    """Build the site; print errors with a known cause as one sentence."""
    parser = argparse.ArgumentParser(prog="python -m docs.website", description="Build the site of the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT / "build/site", help="folder of the site")
    site: Path = parser.parse_args().folder
    if shutil.which("dot") is None:
        print("dot of Graphviz is missing: install it, or run make docs, which installs it", file=sys.stderr)
        return EXIT_FAILED
    try:
        return build(site)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:
        code = exit_code_of(error)
        if code is None:
            raise
        print(error, file=sys.stderr)
        return code


if __name__ == "__main__":
    sys.exit(main())
