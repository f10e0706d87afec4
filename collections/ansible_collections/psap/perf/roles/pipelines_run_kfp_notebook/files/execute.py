"""Execute a notebook in its pod, or write the files that it left to the standard output, as a tar.

Without Jupyter in the image, the code of the cells runs in this process. Needs Python 3.9 and its standard library.
"""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

FILES = Path(os.environ["NOTEBOOK_DIRECTORY"])
RESULTS = Path(os.environ["RESULTS_DIRECTORY"])
_EXECUTED = "executed.ipynb"


def run(notebook: str) -> int:
    """Execute the notebook in a writable copy of its folder; return the exit code."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    # a ConfigMap's files are links
    shutil.copytree(FILES, RESULTS, ignore=shutil.ignore_patterns("..*"))
    os.chdir(RESULTS)
    if importlib.util.find_spec("nbconvert") is None:
        return _run_cells(Path(notebook))
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--ExecutePreprocessor.timeout=-1"]
    executed = subprocess.run([*command, "--execute", "--to=notebook", f"--output={_EXECUTED}", notebook], check=False)
    if executed.returncode == 0:
        subprocess.run([*command, "--to=html", _EXECUTED], check=False)
    return executed.returncode


def _run_cells(notebook: Path) -> int:
    """Run the code of all cells as one program, whose messages name the lines of it."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    program = notebook.with_suffix(".py")
    program.write_text("\n\n".join(code) + "\n", encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    runpy.run_path(str(program), run_name="__main__")
    return 0


def send() -> None:
    """Write the files of the results that were not given."""
    given = {path.name for path in FILES.iterdir()}
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        for path in sorted(RESULTS.iterdir()) if RESULTS.exists() else ():
            if path.is_file() and path.name not in given:
                archive.add(path, path.name)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run(sys.argv[2]))
    send()
