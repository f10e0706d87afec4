"""The image of execution-environment.yml: built here, pushed to a registry, pulled from it, and run on a lab.

No registry of images can be reached where the tests run: the base is Debian from debootstrap instead of UBI, and the
collections of others come from this Python environment instead of Galaxy. `podman run` needs cgroups that the machine
may not have; `buildah run` with chroot isolation needs none.
"""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.integration.users.conftest import ON_REAL_NODE
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
IN_A_PROJECT = "cd /tmp && perfdrv init project && cd project"
# of the flow skeleton, and of the check that every run starts with
RIGHTS = [{"role": "skeleton_start_pods", "namespaces": ["default"]}, {"kinds": ["Namespace"], "verbs": ["list"]}]
CHROOT = ("--isolation", "chroot", "--network", "host", "--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run docker-registry; yield its host and port."""
    folder = tmp_path_factory.mktemp("registry")
    address = f"127.0.0.1:{free_port()}"
    storage = {"filesystem": {"rootdirectory": str(folder / "images")}}
    config = folder / "registry.yml"
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


@pytest.fixture(scope="module")
def pushed(registry: str, published: Published, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the image and push it to the registry; yield its name, under which it was pulled again."""
    folder = tmp_path_factory.mktemp("image")
    base = folder / "Base"
    base.write_text(BASE_FILE)
    run("podman", "build", "--quiet", *CHROOT, "--file", base, "--tag", BASE, BASE_TREE)
    definition = write_definition(folder / "definition", published.wheel)
    context = ("--context", folder / "context", "--output-filename", "Containerfile")
    run("sh", "tests/scripts/builder.sh", "ansible-builder", "create", "--file", definition, *context)
    run("podman", "build", "--quiet", *CHROOT, "--tag", IMAGE, folder / "context")
    name = f"{registry}/psap-perf:{published.version}"
    run("podman", "push", "--tls-verify=false", IMAGE, f"docker://{name}")
    run("podman", "rmi", "--force", IMAGE)
    run("podman", "pull", "--quiet", "--tls-verify=false", f"docker://{name}")
    yield name
    run("podman", "rmi", "--force", name)


def test_image_from_a_registry_runs_a_scale_test(pushed: str, published: Published, home: Home) -> None:
    container = run("buildah", "from", "--pull-never", pushed).splitlines()[-1]
    try:
        home.install(published.wheel)
        with lab(home):
            kubeconfig = Path(home.run("perflab", "kubeconfig", "--name", "registries").strip())
            mount = ("--volume", f"{kubeconfig.parent}:{kubeconfig.parent}:ro")
            flow = "perfdrv run scale_test --site local -p lab -p scale_test_smoke"
            words = ("--user", "root", "--env", f"KUBECONFIG={kubeconfig}", "--env", "HOME=/tmp", container)
            output = run("buildah", "run", *CHROOT, *mount, *words, "--", "sh", "-c", f"{IN_A_PROJECT} && {flow}")
    finally:
        run("buildah", "rm", container)
    assert "20 of 20 workloads submitted: 20 completed, 0 failed, 0 lost" in output
    assert "scale_test: ok" in output


def test_image_runs_a_flow_in_a_pod(pushed: str, published: Published, home: Home) -> None:
    archive = home.folder / "image.tar"
    run("podman", "save", "--quiet", "--format", "oci-archive", "--output", archive, pushed)
    home.install(published.wheel)
    home.run("perfdrv", "init", "project")
    project = home.folder / "project"
    flow = 'perfdrv run skeleton --site local --runs-dir "$PERF_USER_ARTIFACTS" -s clusters_lock=ignore'
    with lab(home, "--with", "worker"):
        home.run("perflab", "image", "load", "--name", "registries", archive)
        local_ci = ("perfdrv", "toolbox", "local-ci")
        where = ("--site", "lab", "--namespace", "flows", "--image", pushed)
        home.run(*local_ci, "prepare-users", *where, "--rights", json.dumps(RIGHTS), cwd=project)
        words = ("--service-account", "local-ci", "--memory", "1Gi", "--cpu", "50m", *ON_REAL_NODE)
        command = f"sh -c '{IN_A_PROJECT} && {flow}'"
        home.run(*local_ci, "run", *where, *words, "--ci-command", command, cwd=project)
    (document,) = project.glob("runs/*/*__local_ci__run/artifacts/user-0/**/run.json")
    assert json.loads(document.read_text())["status"] == "ok"
