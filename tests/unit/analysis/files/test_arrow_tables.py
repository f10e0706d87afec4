"""Arrow tables that parsers may return: equal to pandas' tables of the same rows, without importing pandas."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.files.tables import Column, Kind, TableSpec, TypedRows, arrow_table, parquet_bytes, read_table

KINDS: Mapping[str, Kind] = {"at_s": "time", "name": "text", "count": "integer", "good": "flag", "share": "number"}
SPEC = TableSpec("things", "Things", tuple(Column(name, kind, name) for name, kind in KINDS.items()))
ROWS: list[dict[str, Any]] = [
    {"at_s": 1.5, "name": "ä", "count": 2**40, "good": True, "share": 0},
    {"at_s": None, "name": None, "count": None, "good": None},
    {"at_s": 2, "name": "b", "count": -1, "good": False, "share": 0.25},
    {"at_s": 3, "name": "ä", "count": 0, "good": True, "share": 1e300},
    *({"name": f"x{n}", "good": n % 3 == 0} for n in range(20)),
]


@pytest.mark.parametrize("count", [0, 1, 2, 4, 24])
def test_arrow_tables_equal_those_of_pandas(count: int) -> None:
    import pandas as pd

    rows = ROWS[:count]
    stored = read_table(parquet_bytes(arrow_table(TypedRows(rows), SPEC), SPEC), SPEC)
    made = read_table(parquet_bytes(pd.DataFrame(rows, columns=list(KINDS)), SPEC), SPEC)
    pd.testing.assert_frame_equal(stored, made, check_categorical=False)


def test_value_of_another_type_is_refused() -> None:
    with pytest.raises((ValueError, TypeError)):
        arrow_table(TypedRows([{"count": "many"}]), SPEC)


def test_parsing_lists_imports_neither_pandas_nor_all_of_arrow(tmp_path: Path) -> None:
    from tests.data.kubernetes_lists import pod, write_list

    write_list(tmp_path / "000__a/pods.json", [pod("a-worker-0", 0, 1, 2, 3)])
    (tmp_path / "000__a/kubernetes_objects.json").write_text('{"schema": "psap.perf/kubernetes-objects/1"}')
    program = (
        "import sys; from perfanalysis.__main__ import run; "
        f"code = run(['parse', {str(tmp_path)!r}]); "
        "sys.exit(code or int(not {'pandas', 'pyarrow.compute'}.isdisjoint(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report/tables/000__a/pods.parquet").is_file()
