"""This project in an image: its programs and its collection with Ansible, and the Python packages that they import."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

from perflab.errors import ClusterError
from perflab.worker.image_contents import python
from perflab.worker.images import Image

PLACE = "/opt/psap-perf"
_DISTRIBUTION = "psap-perf"
_SOURCES = ("analysis/src", "driver/src", "lab/src")
_PARTS = (
    *(*_SOURCES, "collections", "playbooks", "presets", "group_vars", "inventories"),
    *("ansible.cfg", "pyproject.toml", "LICENSE"),
)
# of Ansible's 100 collections, those that the project uses
_COLLECTIONS = ("ansible_collections/kubernetes/core/", "ansible_collections/community/general/")
_BUNDLE = "ansible"
# not needed at run time
_LEFT_OUT = re.compile(
    r"(^|/)(tests?|testing|__pycache__|include|docs|changelogs|sample_data)/|\.(pyi|pyx|pxd|h|a|pyc)$"
)
_KEPT = re.compile(r"^(numpy|scipy|pandas)/(.*/)?_?testing/|^ansible/plugins/test/")
_PROGRAMS = {
    "perfdrv": "perfdrv.__main__:main",
    "perfanalysis": "perfanalysis.__main__:main",
    "perflab": "perflab.__main__:main",
    **{f"ansible-{name}": f"ansible.cli.{name}:main" for name in ("config", "doc", "galaxy", "inventory", "playbook")},
}
_START = """\
#!/usr/local/bin/python3
import sys
from {module} import {function}
sys.exit({function}())
"""


def image(name: str) -> Image:
    """Return an image in which the project's programs and Ansible's run, in the folder of the project.

    Raises:
        ClusterError: The project is installed without its repository, or a package that it needs is missing.
    """
    libraries = f"/usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    library = f"{libraries}/site-packages"
    base = python()
    files, links = _project()
    files = {**base.files, **_packages(library), **files}
    programs = {f"/usr/local/bin/{program}": _start(of) for program, of in _PROGRAMS.items()}
    sources = "".join(f"{PLACE}/{source}\n" for source in _SOURCES)
    # a package has its own libraries, besides those of each image
    return dataclasses.replace(
        base,
        name=name,
        files=files,
        texts={**base.texts, **programs, f"{library}/psap_perf.pth": sources},
        # Debian's Python reads packages there
        links={**base.links, **links, f"{libraries}/dist-packages": "site-packages"},
        folders=(f"{PLACE}/runs",),
        command=("perfdrv", "--help"),
        # a user of any number has a home there
        environment={**base.environment, "HOME": "/tmp"},  # noqa: S108
        working_folder=PLACE,
        compiled=True,
    )


def _start(entry_point: str) -> str:
    module, _colon, function = entry_point.partition(":")
    return _START.format(module=module, function=function)


def _project() -> tuple[dict[str, Path], dict[str, str]]:
    """Return the files of the project and its links to folders, by their places in the image."""
    root = Path(__file__).resolve().parents[4]
    if not (root / "ansible.cfg").exists():
        raise ClusterError("the image of the project needs its repository: this installation has none")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_PARTS]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
    if listed.returncode != 0:
        raise ClusterError(f"git cannot list the files of the project in {root}: {listed.stderr.strip()}")
    names = [name for name in listed.stdout.split("\0") if name]
    files = {f"{PLACE}/{name}": root / name for name in names if (root / name).is_file()}
    return files, {f"{PLACE}/{name}": str((root / name).readlink()) for name in names if (root / name).is_dir()}


def _packages(library: str) -> dict[str, Path]:
    found = {}
    for name in _distributions():
        distribution = importlib.metadata.distribution(name)
        own = re.sub(r"[-_.]+", "-", name).lower() == _DISTRIBUTION
        for file in distribution.files or ():
            if is_needed(str(file), bundle=name == _BUNDLE, own=own):
                found[f"{library}/{file}"] = Path(str(distribution.locate_file(file)))
    return {target: path for target, path in found.items() if path.is_file()}


def is_needed(file: str, *, bundle: bool, own: bool) -> bool:
    """Return whether the image needs a file of a package: of Ansible's *bundle*, or of this project's *own*."""
    if file.startswith("..") or (own and ".dist-info/" not in file):
        return False
    if bundle and not file.startswith(_COLLECTIONS):
        return False
    return not _LEFT_OUT.search(file) or bool(_KEPT.search(file))


def _distributions() -> list[str]:
    """Return the distributions that the project needs at run time, with Ansible's collections."""
    found: set[str] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(_DISTRIBUTION, frozenset({"collections"}))]
    while waiting:
        name, extras = waiting.pop()
        found.add(name)
        for requirement in map(Requirement, _requires(name)):
            if requirement.name not in found and _applies(requirement, extras):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return sorted(found)


def _requires(name: str) -> Iterable[str]:
    try:
        return importlib.metadata.distribution(name).requires or ()
    except importlib.metadata.PackageNotFoundError as error:
        raise ClusterError(f"the image of the project needs the Python package {name}: install the project") from error


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, ""))
