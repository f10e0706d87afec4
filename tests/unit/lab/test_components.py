"""The pinned modules, and the hash that names a set of programs."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from perflab.building import build, component
from perflab.building.component import Component
from perflab.building.components import COMPONENTS, DEFINITIONS, PRODUCTS, lock_hash, versions
from perflab.building.golang import Go
from perflab.profiles import ENDPOINT_PICKER, OLM


@pytest.mark.parametrize("component", (*COMPONENTS, *DEFINITIONS), ids=lambda component: component.name)
def test_every_component_has_checksums(component: Component) -> None:
    assert component.version in (component.folder / "go.sum").read_text()


def test_olm_definitions_are_those_of_its_program() -> None:
    [program] = PRODUCTS[OLM]
    assert versions(DEFINITIONS)["definitions/operator-lifecycle-manager"] == program.version


def test_files_left_out_are_missing_in_the_copy_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (component,) = PRODUCTS[ENDPOINT_PICKER]
    (name,) = component.left_out
    module, work = tmp_path / "module", tmp_path / "work"
    for path in (module / name, module / "kept.go"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("package scorer\n")
    work.mkdir()
    monkeypatch.setattr(Go, "download", lambda self, work, name: module)
    monkeypatch.setattr(Go, "replace", lambda self, work, name, folder: None)
    build._adapt_module(Go(Path("/bin/true")), component, work)
    assert [path.name for path in work.rglob("*.go")] == ["kept.go"]
    assert lock_hash([component]) != lock_hash([dataclasses.replace(component, left_out=())])


def test_kubernetes_reports_its_version() -> None:
    flags = next(part for part in COMPONENTS if part.name == "kubernetes").linker_flags()
    assert "gitVersion=v1.36.3" in flags
    assert "gitMinor=36" in flags


def test_hash_depends_on_machine_and_programs() -> None:
    fewer = [dataclasses.replace(COMPONENTS[0], programs=()), *COMPONENTS[1:]]
    assert len({lock_hash(), lock_hash(machine="riscv64"), lock_hash(fewer)}) == 3


@pytest.mark.parametrize("name", ["go.mod", "go.sum", "tools.go"])
def test_hash_depends_on_each_lock_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(component.MODULES, tmp_path / "modules")
    monkeypatch.setattr(component, "MODULES", tmp_path / "modules")
    before = lock_hash()
    with (tmp_path / "modules" / COMPONENTS[0].folder.name / name).open("a") as file:
        file.write("// changed\n")
    assert lock_hash() != before
