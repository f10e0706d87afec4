"""From a folder with `workload.yml` and `parser.py` to a WorkloadType; everything after it is as for any other kind."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.files.typed_yaml import load_typed
from perfanalysis.workloads.declared.analysing import Analyser
from perfanalysis.workloads.declared.checks import Checks
from perfanalysis.workloads.declared.kpis import kpi_of, statistic_of
from perfanalysis.workloads.declared.model import WorkloadDeclared
from perfanalysis.workloads.declared.parsing import PARSER, load_module, parse_function, tables_type
from perfanalysis.workloads.workload_type import WorkloadType

if TYPE_CHECKING:
    pass

DECLARATION = "workload.yml"


def declaration(folder: Path) -> WorkloadDeclared:
    """The checked declaration of a folder. Raises UsageError with file and line."""
    declared = load_typed(folder / DECLARATION, WorkloadDeclared)
    Checks(declared).run()
    return declared


def load_workload(folder: Path) -> WorkloadType[Any]:
    """The kind of a folder. Raises UsageError, with file and line, for what cannot be used."""
    declared = declaration(folder)
    module = load_module(folder, declared.name)
    kpis = tuple(
        kpi_of(kpi, statistic_of(kpi, entry, declared.samples), module, str(folder / PARSER))
        for entry in declared.kpis
        for kpi in entry.each
    )
    return WorkloadType(
        name=declared.name,
        version=declared.version,
        files=declared.files,
        tables=tables_type(declared),
        parse=parse_function(declared, folder, module),
        code=hashlib.blake2b((folder / PARSER).read_bytes(), digest_size=20).hexdigest(),
        analyse=Analyser(declared, kpis),
        kpis=kpis,
    )
