"""A package of `perfdrv new package` extends the installed psap.perf, without a line in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from perfdrv.errors import UsageError

from tests.unit.driver.conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def package(tmp_path: Path, perfdrv: Callable[..., Result]) -> Path:
    folder = tmp_path / "waves"
    result = perfdrv("--project", str(ROOT), "new", "package", "waves", str(folder))
    assert result.exit_code == 0, result.output
    return folder


def installed(package: Path, site: Path) -> dict[str, str]:
    """Return an environment in which pip would have installed the package."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    about = site / f"{project['name']}-{project['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return {**os.environ, "PYTHONPATH": f"{site}:{package / 'src'}:{ROOT / 'collections'}"}


def test_tests_of_a_new_package_pass(package: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(package / "tests")]
    environment = installed(package, tmp_path / "site")
    done = subprocess.run(words, cwd=package, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_existing_package_is_not_overwritten(package: Path, perfdrv: Callable[..., Result]) -> None:
    result = perfdrv("--project", str(ROOT), "new", "package", "waves", str(package))
    assert isinstance(result.exception, UsageError)
    assert "so nothing was written" in str(result.exception)


def test_two_kinds_with_one_marker_are_refused(package: Path, tmp_path: Path) -> None:
    (package / "src/waves/__init__.py").write_text(
        "from pathlib import Path\n\nKINDS = (Path(__file__).parent / 'latency',) * 2\n"
    )
    words = [sys.executable, "-m", "perfanalysis", "measures"]
    environment = installed(package, tmp_path / "site")
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "another kind has the marker waves.jsonl" in done.stderr


@pytest.mark.parametrize(
    ("group", "value", "problem"),
    [
        ("perfanalysis.kinds", "waves:MISSING", "has no attribute 'MISSING'"),
        ("perfanalysis.importers", "waves:KINDS", "it is not a Mapping"),
    ],
)
def test_broken_entry_point_is_one_error(package: Path, tmp_path: Path, group: str, value: str, problem: str) -> None:
    environment = installed(package, tmp_path / "site")
    (points,) = (tmp_path / "site").glob("*/entry_points.txt")
    points.write_text(f"[{group}]\nwaves = {value}\n")
    command = "measures" if group == "perfanalysis.kinds" else "import"
    words = [sys.executable, "-m", "perfanalysis", command]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"entry point waves = {value} of waves" in done.stderr
    assert problem in done.stderr
