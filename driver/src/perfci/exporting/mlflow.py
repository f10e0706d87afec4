"""The export of a run's KPIs to MLflow by its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.files.cache import scratch_folder
from perfanalysis.results.history.documents import history_document
from perfanalysis.results.mlflow.connection import Tracking, connect
from perfanalysis.results.mlflow.exporting import export
from perfanalysis.results.scrubbing import STANDARD, scrub
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run


@dataclass(frozen=True, slots=True)
class TrackingSettings:
    """The settings of the export to MLflow; no export if `url` is empty."""

    url: str
    experiment: str

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TrackingSettings:
        """Return the values of settings by their names; missing ones are empty."""
        return cls(str(values.get("export_mlflow") or ""), str(values.get("export_mlflow_experiment") or "psap-perf"))


def export_to_mlflow(run: Path, settings: TrackingSettings) -> str:
    """Export the KPIs of a run, scrubbed, and return the name of the experiment with the server's address.

    Raises:
        AnalysisError: The run cannot be analysed, or the server cannot be reached or refuses.
    """
    tracking = Tracking(settings.url, settings.experiment)
    client = connect(tracking)
    with scratch_folder() as tables:
        document = history_document(analyse_run(run, tables, AnalysisOptions()))
    done = export(client, tracking, (scrub(document, STANDARD),))
    return f"{settings.url} {tracking.experiment}/{document['flow']}{'' if done.new else ', already there'}"
