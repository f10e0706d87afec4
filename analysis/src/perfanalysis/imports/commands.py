"""The group `import`: a command for each format that other tools write."""

from __future__ import annotations

import click

from perfanalysis.imports.kube_burner.commands import import_kube_burner
from perfanalysis.imports.lts.commands import import_lts
from perfanalysis.imports.matrixbenchmarking.commands import import_matrixbenchmarking
from perfanalysis.imports.openmetrics.commands import import_openmetrics
from perfanalysis.imports.orion.commands import import_orion
from perfanalysis.imports.prometheus.commands import import_prometheus
from perfanalysis.imports.scale_test_tool.commands import import_scale_test_tool


@click.group("import")
def import_group() -> None:
    """Take in what other tools wrote: as run directories, or into a history."""


import_group.add_command(import_scale_test_tool)
import_group.add_command(import_orion)
import_group.add_command(import_matrixbenchmarking)
import_group.add_command(import_openmetrics)
import_group.add_command(import_prometheus)
import_group.add_command(import_kube_burner)
import_group.add_command(import_lts)
