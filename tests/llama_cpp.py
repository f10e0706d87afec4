"""A real llama.cpp with a tiny model, for machines of the tests: ``python -m tests.llama_cpp FOLDER`` copies it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from perflab.building.llama import MODEL, ensure_llama_cpp, model
from perflab.files import places


def copy_to(folder: Path) -> None:
    """Copy the programs and the model to where a machine's user reads them; they are built when they are missing."""
    built = ensure_llama_cpp(places.cache_root(), lambda text: print(text, file=sys.stderr))
    shutil.copytree(built.folder / "bin", folder)
    shutil.copy(model(built), folder / MODEL)


if __name__ == "__main__":
    copy_to(Path(sys.argv[1]))
