"""The declaration of fine-tuning jobs in the registry of workload kinds."""

from __future__ import annotations

from perfanalysis.workloads.fine_tuning.analysis import across, analyse
from perfanalysis.workloads.fine_tuning.kpis import KPIS
from perfanalysis.workloads.fine_tuning.monitored import monitored
from perfanalysis.workloads.fine_tuning.parser import FILES, parse
from perfanalysis.workloads.fine_tuning.scaling import SCALING_KPIS
from perfanalysis.workloads.fine_tuning.tables import FineTuningTables
from perfanalysis.workloads.workload_type import WorkloadType

WORKLOAD = WorkloadType(
    name="fine_tuning",
    version=1,
    files=FILES,
    tables=FineTuningTables,
    parse=parse,
    analyse=analyse,
    kpis=(*KPIS, *SCALING_KPIS),
    across=across,
    monitored=monitored,
)
