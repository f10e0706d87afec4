"""The image of execution-environment.yml: built here, pushed to a registry, pulled from it, and run on a lab.

No registry of images can be reached where the tests run: the base is Debian from debootstrap instead of UBI, and the
collections of others come from this Python environment instead of Galaxy. `podman run` needs cgroups that the machine
may not have; `buildah run` with chroot isolation needs none.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.programs import PROJECT
from tests.release.conftest import Home, Published, free_port, lab, run, server

pytestmark = pytest.mark.deep
# Debian with Python in a virtual environment, because Debian's own Python has no ensurepip
BASE_TREE = PROJECT / "build/image-base"
BASE = "localhost/psap-perf-test-base:1"
IMAGE = "localhost/psap-perf-test:1"
PYTHON = "/opt/python/bin/python"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
BASE_FILE = f"""
FROM scratch
COPY . /
RUN python3 -m venv /opt/python
ENV PATH=/opt/python/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin PIP_CERT={CERTIFICATES}
"""
CHROOT = ("--isolation", "chroot", "--network", "host", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro")


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """Run docker-registry; yield its host and port."""
    address = f"127.0.0.1:{free_port()}"
    config = tmp_path / "registry.yml"
    storage = {"filesystem": {"rootdirectory": str(tmp_path / "registry")}}
    config.write_text(yaml.safe_dump({"version": 0.1, "storage": storage, "http": {"addr": address}}))
    with server(f"http://{address}/v2/", "docker-registry", "serve", config):
        yield address


def write_definition(folder: Path, wheel: Path) -> Path:
    """Write execution-environment.yml for a base of Debian into *folder*, with the wheel; return its path."""
    definition = yaml.safe_load((PROJECT / "execution-environment.yml").read_text())
    parts = definition["dependencies"]
    names = [one["name"] for one in parts.pop("galaxy")["collections"]]
    for unused in ("system", "exclude"):
        parts.pop(unused)
    parts["python_interpreter"] = {"package_system": "python3", "python_path": PYTHON}
    parts["python"] = str(PROJECT / parts["python"])
    definition["images"]["base_image"]["name"] = BASE
    definition["options"]["package_manager_path"] = "/usr/bin/apt-get"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / wheel.name).symlink_to(wheel)
    # the name ansible_collections is only this project's collection in tests
    site = Path(sysconfig.get_path("purelib"), "ansible_collections")
    definition["additional_build_files"] = [
        {"src": "wheels/*.whl", "dest": "wheels"},
        *({"src": str(site / name.replace(".", "/")), "dest": f"others/{name.rpartition('.')[0]}"} for name in names),
    ]
    copied = "COPY _build/others/ /usr/share/ansible/collections/ansible_collections/"
    definition["additional_build_steps"]["append_final"].insert(0, copied)
    path = folder / "execution-environment.yml"
    path.write_text(yaml.safe_dump(definition))
    return path


def test_image_from_a_registry_runs_a_flow(registry: str, published: Published, home: Home, tmp_path: Path) -> None:
    base = tmp_path / "Base"
    base.write_text(BASE_FILE)
    run("podman", "build", "--quiet", *CHROOT, "--file", base, "--tag", BASE, BASE_TREE)
    definition = write_definition(tmp_path / "definition", published.wheel)
    context = ("--context", tmp_path / "context", "--output-filename", "Containerfile")
    run("sh", "tests/scripts/builder.sh", "ansible-builder", "create", "--file", definition, *context)
    run("podman", "build", "--quiet", *CHROOT, "--tag", IMAGE, tmp_path / "context")
    pushed = f"{registry}/psap-perf:{published.version}"
    run("podman", "push", "--tls-verify=false", IMAGE, f"docker://{pushed}")
    run("podman", "rmi", "--force", IMAGE)

    container = run("buildah", "from", "--tls-verify=false", f"docker://{pushed}").splitlines()[-1]
    try:
        home.install(published.wheel)
        with lab(home):
            kubeconfig = Path(home.run("perflab", "kubeconfig", "--name", "registries").strip())
            mount = ("--volume", f"{kubeconfig.parent}:{kubeconfig.parent}:ro")
            steps = "cd /tmp && perfdrv init p && cd p && perfdrv run skeleton --site local -p skeleton"
            words = ("--user", "root", "--env", f"KUBECONFIG={kubeconfig}", "--env", "HOME=/tmp", container)
            output = run("buildah", "run", *CHROOT, *mount, *words, "--", "sh", "-c", steps)
    finally:
        run("buildah", "rm", container)
        run("podman", "rmi", "--force", pushed)
    assert "skeleton: ok" in output
