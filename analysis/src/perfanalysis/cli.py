"""The command line of perfanalysis: a table of commands. Only the command that runs is imported."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import click
from click.shell_completion import get_completion_class

from perfanalysis.errors import AnalysisError
from perfanalysis.extensions import load_entry_points

PROGRAM = "perfanalysis"


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command's location, `module:attribute` below this package, and its sentence in the list of commands."""

    target: str
    help: str


class LazyGroup(click.Group):
    """A group that maps names to locations of commands, to commands or to groups."""

    def __init__(self, name: str, table: Mapping[str, Lazy | click.Command], about: str, added: str = "") -> None:
        """Create a group; *added* is a group of entry points, tables of commands of other packages."""
        super().__init__(name, help=about, no_args_is_help=True)
        self._own = table
        self._added = added

    @functools.cached_property
    def table(self) -> Mapping[str, Lazy | click.Command]:
        """Return all commands.

        Raises:
            AnalysisError: An entry point is broken, or adds a command whose name is taken.
        """
        table = dict(self._own)
        for point, commands in (load_entry_points(self._added, Mapping) if self._added else {}).items():
            if taken := sorted(table.keys() & commands.keys()):
                raise AnalysisError(
                    f"the {point} adds the command {taken[0]}, which exists already; remove that package"
                )
            table |= commands
        return table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in alphabetical order."""
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        entry = self.table.get(cmd_name)
        if not isinstance(entry, Lazy):
            return entry
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(f"perfanalysis.{module}"), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            helps = ((name, self.table[name].help or "") for name in self.list_commands(ctx))
            formatter.write_dl([(name, text.partition("\n")[0]) for name, text in helps])


IMPORT = LazyGroup(
    "import",
    {
        "benchmark-report": Lazy(
            "imports.benchmark_report:import_benchmark_report", "Add Benchmark Reports of llm-d-benchmark to a history."
        ),
        "kube-burner": Lazy(
            "imports.kube_burner:import_kube_burner", "Create a run from a local folder of kube-burner."
        ),
        "lts": Lazy("imports.lts:import_lts", "Add LTS payloads of MatrixBenchmarking to a history."),
        "matrixbenchmarking": Lazy(
            "imports.matrixbenchmarking.commands:import_matrixbenchmarking",
            "Create a run from a result tree of MatrixBenchmarking.",
        ),
        "openmetrics": Lazy("imports.openmetrics:import_openmetrics", "Add OpenMetrics text to a history."),
        "orion": Lazy("imports.orion.commands:import_orion", "Add runs from orion's JSON to a history."),
        "prometheus": Lazy(
            "imports.prometheus:import_prometheus", "Create a run from responses or dumps of Prometheus."
        ),
        "scale-test-tool": Lazy(
            "imports.scale_test_tool.commands:import_scale_test_tool",
            "Create a run from a directory of the scale-test-tool.",
        ),
    },
    "Import results of other tools, as run directories or into a history.",
    added="perfanalysis.importers",
)
EXPORT = LazyGroup(
    "export",
    {
        "benchmark-report": Lazy(
            "results.benchmark_report:export_benchmark_report", "Write loads as Benchmark Reports of llm-d-benchmark."
        ),
    },
    "Write results in the formats of other tools.",
)
HISTORY = LazyGroup(
    "history",
    {
        "add": Lazy("results.history.commands:add_command", "Add the KPIs of runs."),
        "export": Lazy("results.history.commands:export_command", "Write a scrubbed copy for others."),
        "list": Lazy("results.history.commands:list_command", "List the runs, oldest first."),
        "merge": Lazy("results.history.commands:merge_command", "Add the runs of other histories."),
        "mlflow": Lazy("results.mlflow.commands:mlflow_command", "Export runs and KPIs to MLflow, scrubbed."),
        "pull": Lazy("results.opensearch.commands:pull_command", "Pull runs from OpenSearch."),
        "push": Lazy("results.opensearch.commands:push_command", "Push runs to OpenSearch, scrubbed."),
        "site": Lazy("verdicts.site.commands:site_command", "Write one page over all runs, with filters."),
        "show": Lazy(
            "verdicts.regression.commands:show_command", "Print a run, or write a page with the trends of all runs."
        ),
    },
    "Keep the results of many runs in a folder: one JSON document per run, never changed.",
)


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(perfanalysis completion bash)"
    zsh:   eval "$(perfanalysis completion zsh)"
    fish:  perfanalysis completion fish | source
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for {shell}")
    click.echo(kind(cli, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source())


COMMANDS: Mapping[str, Lazy | click.Command] = {
    "completion": completion,
    "compare": Lazy("verdicts.comparison.commands:compare_command", "Compare runs, or the cells of one run."),
    "export": EXPORT,
    "history": HISTORY,
    "import": IMPORT,
    "judge": Lazy("verdicts.thresholds.commands:judge_command", "Judge a run against thresholds."),
    "kpi": Lazy("results.commands:kpi_command", "Write the KPIs of a run and print them."),
    "measures": Lazy("verdicts.thresholds.commands:measures_command", "List the measures that thresholds can limit."),
    "parse": Lazy("workloads.parsing:parse_command", "Parse the recordings of a run into tables."),
    "payload": Lazy("results.commands:payload_command", "Write the results of a run as one document, and print it."),
    "plotter": Lazy("imports.scale_test_tool.commands:plotter", "Plot a directory of the scale-test-tool."),
    "regress": Lazy(
        "verdicts.regression.commands:regress_command", "Judge a run against the earlier runs of a history."
    ),
    "report": Lazy("reports.commands:report_command", "Write the report of a run."),
    "schema": Lazy("results.commands:schema_command", "Print the JSON Schema of a document."),
    "tables": Lazy("results.commands:tables_command", "Write the tables of a run as Parquet files."),
    "times-csv": Lazy(
        "imports.scale_test_tool.commands:times_csv_command", "Write the times.csv of the scale-test-tool."
    ),
}

cli = LazyGroup(
    PROGRAM,
    COMMANDS,
    "Analyse run directories of psap.perf: tables, KPIs, plots and a report to open from disk.",
)
cli.context_settings["help_option_names"] = ["-h", "--help"]
# perfanalysis.__main__ reads it before click does
cli.params.append(click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."))
