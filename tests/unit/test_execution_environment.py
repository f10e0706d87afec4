"""The image for AWX, ansible-navigator and CI contains the dependencies with which the tests run."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.programs import PROJECT

pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the image has Python 3.11")
DEFINITION = yaml.safe_load((PROJECT / "execution-environment.yml").read_text())["dependencies"]
PINS = PROJECT / "requirements" / "execution-environment.txt"
# Also written if docker is installed
BUILD_FILE = "Containerfile"
# Purposes of the image: exports, notifications, comments, a history, administrators of kept clusters, models by gRPC
EXTRAS = ("s3", "slack", "github", "opensearch", "openshift", "grpc")


def pins_by_name() -> dict[str, str]:
    """Return the pins of constraints.txt for this Python: ``name==version`` by name."""
    lines = (PROJECT / "requirements" / "constraints.txt").read_text().splitlines()
    found = (Requirement(line) for line in lines if line.strip() and not line.startswith("#"))
    return {
        canonicalize_name(one.name): f"{one.name}{one.specifier}"
        for one in found
        if one.marker is None or one.marker.evaluate()
    }


def test_constraints_are_the_tested_versions() -> None:
    """A fresh environment's pip refuses contradicting pins; a test in an older environment would not notice them."""
    installed: dict[str, str] = {
        canonicalize_name(one.name): f"{one.name}=={one.version}" for one in importlib.metadata.distributions()
    }
    pins = pins_by_name()

    assert {name: pin.lower() for name, pin in pins.items() if name in installed} == {
        name: installed[name].lower() for name in pins if name in installed
    }


def add_requirements(name: str, extras: tuple[str, ...], seen: dict[str, set[str]]) -> None:
    """Add the requirements of a distribution, recursively."""
    for text in importlib.metadata.requires(name) or ():
        one = Requirement(text)
        wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))
        key = canonicalize_name(one.name)
        if wanted and not (key in seen and one.extras <= seen[key]):
            seen.setdefault(key, set()).update(one.extras)
            add_requirements(one.name, tuple(one.extras), seen)


def test_image_pins_the_python_libraries() -> None:
    seen: dict[str, set[str]] = {}
    add_requirements("psap-perf", EXTRAS, seen)
    pins = pins_by_name()

    expected = [pins[name] for name in sorted(seen) if name not in ("ansible-core", "ansible-runner")]

    assert PINS.read_text().splitlines() == expected, f"write these lines to {PINS.name}"


def test_image_pins_ansible_and_its_collections() -> None:
    pins = pins_by_name()
    collections = {one["name"]: one["version"] for one in DEFINITION["galaxy"]["collections"]}
    minimal = yaml.safe_load((PROJECT / "collections" / "requirements.yml").read_text())["collections"]
    site = Path(sysconfig.get_path("purelib")) / "ansible_collections"
    manifests = {name: site / name.replace(".", "/") / "MANIFEST.json" for name in collections}
    installed = {name: json.loads(path.read_text())["collection_info"]["version"] for name, path in manifests.items()}

    assert DEFINITION["ansible_core"]["package_pip"] == pins["ansible-core"]
    assert DEFINITION["ansible_runner"]["package_pip"] == pins["ansible-runner"]
    assert {one["name"] for one in minimal} == set(collections)
    assert collections == installed


def with_builder(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ansible-builder or ansible-navigator from a dedicated environment."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "tests/scripts/builder.sh", *words],
        cwd=PROJECT,
        env={**os.environ, "PATH": path, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.mark.deep
def test_ansible_builder_accepts_it(tmp_path: Path) -> None:
    file = str(PROJECT / "execution-environment.yml")

    options = ("--context", str(tmp_path), "--output-filename", BUILD_FILE)
    done = with_builder("ansible-builder", "create", "--file", file, *options)

    assert done.returncode == 0, done.stdout
    assert (tmp_path / "_build/requirements.txt").read_text().split() == PINS.read_text().split()
    assert yaml.safe_load((tmp_path / "_build/requirements.yml").read_text()) == DEFINITION["galaxy"]
    # UBI's repositories have no oc, which a collection requires.
    assert system_packages(tmp_path) == {"git-core", "openssh-clients"}


def system_packages(context: Path) -> set[str]:
    """Return the packages that the build would install from the base image's repositories, by the build's script."""
    build = context / "_build"
    collections = context / "collections" / "ansible_collections"
    for name in (one["name"].replace(".", "/") for one in DEFINITION["galaxy"]["collections"]):
        (collections / name).parent.mkdir(parents=True, exist_ok=True)
        (collections / name).symlink_to(Path(sysconfig.get_path("purelib")) / "ansible_collections" / name)
    words = (context / BUILD_FILE).read_text().partition("introspect.py introspect ")[2].splitlines()[0].split()
    options = {word.partition("=")[0]: build / word.partition("=")[2] for word in words if word.startswith("--")}
    chosen = [f"{name}={path}" for name, path in options.items() if path.is_file()]
    done = subprocess.run(
        [sys.executable, build / "scripts/introspect.py", "introspect", str(collections.parent), *chosen,
         f"--write-bindep={context / 'bindep.txt'}", f"--write-pip={context / 'pip.txt'}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.split()[0] for line in (context / "bindep.txt").read_text().splitlines() if line}


@pytest.mark.deep
def test_ansible_navigator_runs_a_flow_without_a_container(tmp_path: Path) -> None:
    done = with_builder(
        "ansible-navigator", "run", "playbooks/scale_test.yml", "--mode", "stdout", "--execution-environment", "false",
        "--playbook-artifact-enable", "false", "--log-file", str(tmp_path / "log"), "-i", "inventories/local",
        PERF_RUNS_DIR=str(tmp_path / "runs"), KUBECONFIG="/nonexistent",
    )  # fmt: skip

    assert "the kubeconfig /nonexistent does not exist" in done.stdout
    assert len(list((tmp_path / "runs").iterdir())) == 1
