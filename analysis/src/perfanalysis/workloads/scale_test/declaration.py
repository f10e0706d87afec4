"""The declaration of scale tests in the registry of workload kinds."""

from __future__ import annotations

from perfanalysis.workloads.scale_test.analysis import analyse
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.naming import select
from perfanalysis.workloads.scale_test.parser import FILES, parse
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.workload_type import WorkloadType

WORKLOAD = WorkloadType(
    name="scale_test",
    version=2,
    files=FILES,
    tables=ScaleTestTables,
    parse=parse,
    analyse=analyse,
    select=select,
    kpis=KPIS,
)
