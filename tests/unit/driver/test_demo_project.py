"""The project that the driver is tested with: its flow runs by the skeleton of all flows."""

from __future__ import annotations

from tests.unit.driver.conftest import DEMO, ROOT


def test_its_shared_tasks_are_those_of_all_flows() -> None:
    """A link to each: what the skeleton includes is found, and a new file is not missed only on the lab."""
    shared = {path.name: path.resolve() for path in (ROOT / "playbooks/shared").glob("*.yml")}
    own = shared.pop("settings.yml")
    linked = {path.name: path.resolve() for path in (DEMO / "playbooks/shared").glob("*.yml")}
    assert linked.pop("settings.yml") != own
    assert linked == shared
