"""From a folder with `workload.yml` and `parser.py` to a WorkloadType, which is used as any other kind.

The parser.py is loaded from its file, and its result is converted to the declared tables.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import field, make_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from perfanalysis.errors import AnalysisError, DataQualityError, UsageError
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.files.tables import Column, TableSpec, TypedRows, arrow_table, specs_of
from perfanalysis.files.typed_yaml import load_typed
from perfanalysis.workloads.declared.analysing import Analyser
from perfanalysis.workloads.declared.checks import Checks
from perfanalysis.workloads.declared.columns import kpi_of, statistic_of_kpi
from perfanalysis.workloads.declared.matrix import across_of
from perfanalysis.workloads.declared.model import TableDeclared, WorkloadDeclared
from perfanalysis.workloads.workload_type import WorkloadType

PARSER = "parser.py"


def tables_type(declared: WorkloadDeclared) -> type[Any]:
    """Return a dataclass of DataFrames, a field for each declared table."""
    made = [
        (name, Any, field(metadata={"table": spec_of(declared.name, name, table)}))
        for name, table in declared.tables.items()
    ]
    return make_dataclass(f"{declared.name}_tables", made, frozen=True)


def spec_of(kind: str, name: str, table: TableDeclared) -> TableSpec:
    """Return a table's declaration; its name begins with the kind, since kinds may use the same names for tables."""
    columns = tuple(
        Column(column.name, column.kind, column.help, column.unit, required=not column.optional, label=column.label)
        for column in table.columns
    )
    return TableSpec(f"{kind}_{name}", table.help, columns)


def load_module(folder: Path, kind: str) -> ModuleType:
    """Load parser.py of a folder. Raises UsageError with the line that failed."""
    path = folder / PARSER
    spec = importlib.util.spec_from_file_location(f"perfanalysis_workload_{kind}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{path} does not exist; add it with a function parse(source)")
    module = importlib.util.module_from_spec(spec)
    # dataclasses of the module look it up by its name
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{failed_at(error, path)}: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, "parse", None)):
        raise UsageError(f"{path}: add a function parse(source) that returns the tables by name")
    return module


def failed_at(error: Exception, path: Path) -> str:
    """Return file and line of parser.py where an exception was raised, or passed through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def parse_function(declared: WorkloadDeclared, folder: Path, module: ModuleType) -> Callable[[RecordingFiles], Any]:
    """Return the parse function of a WorkloadType, which calls the function of parser.py."""
    made = tables_type(declared)

    def parse(source: RecordingFiles) -> Any:
        try:
            given = module.parse(source)
            return conformed(given, made, source, declared)
        except AnalysisError:
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            at = failed_at(error, folder / PARSER)
            raise DataQualityError(f"{source.place.relative}: its parser failed at {at}: {text}") from error

    return parse


def conformed(given: object, made: type[Any], source: RecordingFiles, declared: WorkloadDeclared) -> Any:
    """Return the result of parse as the dataclass of declared tables. Raises UsageError for undeclared tables."""
    specs = specs_of(made)
    if not isinstance(given, dict) or set(given) != set(specs):
        returned = ", ".join(map(str, given)) if isinstance(given, dict) else type(given).__name__
        text = f"parse must return a mapping with the tables {', '.join(specs)}, not {returned}"
        raise UsageError(f"{declared.at.rsplit(':', 1)[0]}: {text}")
    frames = {}
    for name, spec in specs.items():
        table = given[name]
        if isinstance(table, TypedRows):
            frames[name] = arrow_table(table, spec)
        elif isinstance(table, list):
            frames[name] = source.table(table, spec, declared.marker, f"rows of {name}")
        else:
            frames[name] = spec.conform(table)
    return made(**frames)


DECLARATION = "workload.yml"


def declaration(folder: Path) -> WorkloadDeclared:
    """Return the checked declaration of a folder. Raises UsageError with file and line."""
    declared = load_typed(folder / DECLARATION, WorkloadDeclared)
    Checks(declared).run()
    return declared


def load_workload(folder: Path) -> WorkloadType[Any]:
    """Return the kind of a folder. Raises UsageError with file and line if it is invalid."""
    declared = declaration(folder)
    module = load_module(folder, declared.name)
    kpis = tuple(
        kpi_of(kpi, statistic_of_kpi(kpi, entry, declared.samples), module, str(folder / PARSER))
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
        across=across_of(declared) if declared.matrix else None,
        kpis=kpis,
        parts=declared.parts,
    )
