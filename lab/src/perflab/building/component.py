"""A program of the lab, or several, that one Go module pins: what is built from it and what is copied."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "gomodules"


@dataclass(frozen=True, slots=True)
class Component:
    """One Go module folder of the package and the programs built from it.

    `programs` pairs the file name of a binary with its Go package; `copies` pairs a folder of the upstream module with
    its name in the set (CRDs that the lab applies), `further_copies` the same for another module, which is named first;
    `definitions` pairs a file of CRDs with its folder below `definitions`; `tags` are build tags; `cgo` programs need a
    C compiler; `cpu_s` is the CPU time of its build in seconds with an empty Go cache. `symbolic_links` pairs a file of
    the module that is a symbolic link upstream with its target in the same folder: Go's archives of modules have none.
    `go_module` is the name of the folder, if it is not the component's: components in one folder have the same versions
    of their dependencies, which Go then compiles once.
    `left_out` are files of the module that are not compiled.
    """

    name: str
    module: str
    programs: tuple[tuple[str, str], ...] = ()
    link_values: tuple[tuple[str, str], ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    tags: str = ""
    further_copies: tuple[tuple[str, str, str], ...] = ()
    cgo: bool = False
    cpu_s: int = 0
    symbolic_links: tuple[tuple[str, str], ...] = ()
    go_module: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def all_copies(self) -> tuple[tuple[str, str, str], ...]:
        """Return module, folder in it, and new name of everything that is copied."""
        return (*((self.module, folder, name) for folder, name in self.copies), *self.further_copies)

    @property
    def folder(self) -> Path:
        """Return the folder with go.mod, go.sum and a Go file."""
        return MODULES / (self.go_module or self.name)

    def sources(self) -> list[Path]:
        """Return the files that pin and make up this module, in a stable order."""
        return sorted(path for path in self.folder.iterdir() if path.suffix in (".mod", ".sum", ".go"))

    @property
    def version(self) -> str:
        """Return the pinned version in go.mod (`v1.36.3`)."""
        pattern = rf"^require {re.escape(self.module)} (\S+)|^\t{re.escape(self.module)} (\S+)"
        found = re.search(pattern, (self.folder / "go.mod").read_text(), re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.folder / 'go.mod'} requires no {self.module}")
        return found[1] or found[2]

    def linker_flags(self) -> str:
        """Return the value of `-ldflags`: stripped, with the version that the program reports."""
        major, minor, _ = self.version.removeprefix("v").split(".", 2)
        values = {"version": self.version, "major": major, "minor": minor}
        defined = [f"-X {variable}={text.format(**values)}" for variable, text in self.link_values]
        return " ".join(["-s", "-w", *defined])
