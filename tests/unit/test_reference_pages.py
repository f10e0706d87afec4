"""The site's pages that are generated from declarations contain every declaration."""

from __future__ import annotations

import re

from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from perfanalysis.workloads.kinds import shipped

from docs.website.kpi_page import kpi_page
from docs.website.markdown_pages import Page
from docs.website.settings_pages import flow_page, presets_page, shared_page
from tests.programs import PROJECT

CONTENT = Project(PROJECT)


def test_every_setting_has_a_heading_type_default_and_origin() -> None:
    assert CONTENT.shared is not None
    flows = [line for flow in CONTENT.flows for line in flow_page(CONTENT, CONTENT.flow(flow))]
    lines = [*flows, *shared_page(CONTENT, CONTENT.shared)]
    headings = [heading.text for heading in Page("\n".join(lines)).headings]
    names = [option.name for option in CONTENT.every_setting]
    assert sorted(heading for heading in headings if heading in names) == sorted(names)
    for field in ("type", "default", "pull request"):
        assert sum(line.startswith(f":{field}: ") for line in lines) == len(names)
    rules = [rule for flow in (CONTENT.shared, *map(CONTENT.flow, CONTENT.flows)) for rule in flow.rules]
    assert sum(len(rows) - 1 for rows in Page("\n".join(lines)).tables()) == len(rules)
    secrets = [option.name for option in CONTENT.every_setting if option.secret]
    assert sum(line.startswith(":secret: ") for line in lines) == len(secrets)


def test_every_preset_has_a_heading() -> None:
    page = Page("\n".join(presets_page(CONTENT)))
    assert [heading.text for heading in page.headings[1:]] == sorted(CONTENT.presets)


def test_every_kpi_has_unit_direction_meaning_and_formula() -> None:
    page = Page("\n".join(kpi_page(PROJECT / "docs")))
    tables = [rows[1:] for rows in page.tables()]
    kinds = shipped().all.values()
    assert len(tables) == len(kinds)
    for kind, rows in zip(kinds, tables, strict=True):
        named = [name for row in rows for name in re.findall(r"`([a-z0-9_]+)`", row[0])]
        assert named == [kpi.name for kpi in kind.kpis]
        assert [row for row in rows if len(row) != 5 or not all(row)] == []
