"""A release is published to registries on this machine, installed from them, and run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import PROJECT
from tests.release.conftest import Home, Published, free_port, lab, run, server
from tests.standins.galaxy_index import served_collection

pytestmark = pytest.mark.deep
# tools that the project does not need, which make test-deep-release installs
TOOLS = PROJECT / ".venv/registries/bin"


@pytest.fixture
def pypi(tmp_path: Path) -> Iterator[str]:
    """Run pypiserver; yield its address."""
    folder = tmp_path / "packages"
    folder.mkdir()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    options = ("-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--disable-fallback")
    with server(f"{address}/simple/", TOOLS / "pypi-server", "run", *options, folder):
        yield address


def test_wheel_from_a_package_index_runs_a_flow(pypi: str, published: Published, home: Home) -> None:
    login = ("--username", "any", "--password", "any")
    run(TOOLS / "twine", "check", "--strict", published.wheel)
    run(TOOLS / "twine", "upload", "--non-interactive", "--repository-url", f"{pypi}/", *login, published.wheel)
    home.install("--extra-index-url", f"{pypi}/simple/", f"psap-perf[lab]=={published.version}")
    home.run("perfdrv", "init", "project")
    with lab(home):
        home.run("perfdrv", "doctor", "--site", "lab", cwd=home.folder / "project")
        home.run("perfdrv", "run", "skeleton", "--site", "lab", "-p", "skeleton", cwd=home.folder / "project")
    assert list((home.folder / "project/runs").glob("skeleton-*/report/index.html"))


def test_collection_from_a_galaxy_server_runs_a_flow_by_ansible(published: Published, home: Home) -> None:
    # psap-perf has the lab; without it, the collection of the server is the only one
    home.install(published.wheel)
    shutil.rmtree(home.folder / "env/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
                  / "site-packages/ansible_collections/psap")  # fmt: skip
    project = home.folder / "project"
    project.mkdir()
    shutil.copy(PROJECT / "ansible.cfg", project)
    galaxy = ("ansible-galaxy", "collection", "install", "--no-deps", "-p", "collections")
    with served_collection(published.tarball) as address:
        home.run(*galaxy, "--server", f"{address}/api/", f"psap.perf:=={published.version}", cwd=project)
    sites = "collections/ansible_collections/psap/perf/inventories"
    with lab(home):
        words = ("-i", f"{sites}/lab", "-e", f"@{sites}/../presets/skeleton.yml")
        home.run("ansible-playbook", "psap.perf.skeleton", *words, cwd=project)
    assert list((project / "runs").glob("skeleton-*/run.json"))
