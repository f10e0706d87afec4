"""The fixtures of the driver's tests, for the package that adds commands to it."""

from __future__ import annotations

from tests.unit.driver.conftest import perfdrv, project, repository, runs

__all__ = ["perfdrv", "project", "repository", "runs"]
