"""Argo Workflows in a lab: its settings, and the copy of its module that the lab builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from perflab.building import build
from perflab.building.components import PRODUCTS
from perflab.building.golang import Go
from perflab.cluster.real_node import REAL
from perflab.control_plane.products.argo import settings
from perflab.profiles import ARGO, WORKER


def test_steps_run_on_the_real_node_of_a_lab_that_has_one() -> None:
    assert "workflowDefaults" not in settings((ARGO,))
    spec = settings((ARGO, WORKER))["workflowDefaults"]["spec"]
    assert spec["nodeSelector"] == {REAL: "true"}
    assert [each["key"] for each in spec["tolerations"]] == [REAL]


def test_module_gets_the_files_that_are_symbolic_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (component,) = PRODUCTS[ARGO]
    ((link, target),) = component.symbolic_links
    module, work, replaced = tmp_path / "module", tmp_path / "work", list[tuple[str, Path]]()
    present = (module / link).with_name(target)
    present.parent.mkdir(parents=True)
    present.write_text("package osspecific\n")
    # as in Go's cache of modules
    present.chmod(0o444)
    present.parent.chmod(0o555)
    monkeypatch.setattr(Go, "download", lambda self, work, name: module)
    monkeypatch.setattr(Go, "replace", lambda self, work, name, folder: replaced.append((name, folder)))
    work.mkdir()
    build._adapt_module(Go(Path("/bin/true")), component, work)
    ((name, folder),) = replaced
    assert name == component.module
    assert (folder / link).read_text() == "package osspecific\n"
    assert not (module / link).exists()
