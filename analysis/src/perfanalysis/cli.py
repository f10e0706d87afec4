"""The command line of perfanalysis: where each command lives. Only the one that runs is imported."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass

import click
from click.shell_completion import get_completion_class

PROGRAM = "perfanalysis"


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command's place, `module:attribute` below this package, and the sentence that the list of commands has."""

    target: str
    help: str


class LazyGroup(click.Group):
    """A group over a table of names, each a command's place, a command or a group of its own."""

    def __init__(self, name: str, table: Mapping[str, Lazy | click.Command], about: str) -> None:
        super().__init__(name, help=about, no_args_is_help=True)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, by the alphabet."""
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        entry = self.table.get(cmd_name)
        if not isinstance(entry, Lazy):
            return entry
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(f"perfanalysis.{module}"), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            helps = ((name, self.table[name].help or "") for name in self.list_commands(ctx))
            formatter.write_dl([(name, text.partition("\n")[0]) for name, text in helps])


IMPORT = LazyGroup(
    "import",
    {
        "kube-burner": Lazy("imports.kube_burner:import_kube_burner", "A local folder of kube-burner, as a run."),
        "lts": Lazy("imports.lts:import_lts", "LTS payloads of MatrixBenchmarking, into a history."),
        "matrixbenchmarking": Lazy(
            "imports.matrixbenchmarking.commands:import_matrixbenchmarking",
            "A result tree of MatrixBenchmarking, as a run.",
        ),
        "openmetrics": Lazy("imports.openmetrics:import_openmetrics", "OpenMetrics text, into a history."),
        "orion": Lazy("imports.orion.commands:import_orion", "Runs of orion's JSON, into a history."),
        "prometheus": Lazy(
            "imports.prometheus:import_prometheus", "Range queries in JSON, or OpenMetrics dumps, as a run."
        ),
        "scale-test-tool": Lazy(
            "imports.scale_test_tool.commands:import_scale_test_tool",
            "A directory of Run:ai's scale-test-tool, as a run.",
        ),
    },
    "Take in what other tools wrote: as run directories, or into a history.",
)
HISTORY = LazyGroup(
    "history",
    {
        "add": Lazy("results.history.commands:add_command", "Add the KPIs of runs."),
        "export": Lazy("results.history.commands:export_command", "Write a scrubbed copy, to give away."),
        "list": Lazy("results.history.commands:list_command", "List its runs, oldest first."),
        "merge": Lazy("results.history.commands:merge_command", "Take in the runs of other histories."),
        "pull": Lazy("results.opensearch.commands:pull_command", "Pull runs from OpenSearch."),
        "push": Lazy("results.opensearch.commands:push_command", "Push its runs to OpenSearch, scrubbed."),
        "show": Lazy("verdicts.regression.commands:show_command", "Print a run, or write the trends of all as a page."),
    },
    "Keep the results of many runs: a folder of one JSON document a run, which is only ever added to.",
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
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(kind(cli, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source())


COMMANDS: Mapping[str, Lazy | click.Command] = {
    "completion": completion,
    "compare": Lazy("verdicts.comparison.commands:compare_command", "Compare runs, or the cells of one."),
    "history": HISTORY,
    "import": IMPORT,
    "judge": Lazy("verdicts.thresholds.commands:judge_command", "Judge a run by thresholds."),
    "kpi": Lazy("results.commands:kpi_command", "Write the KPIs of a run and print them."),
    "measures": Lazy("verdicts.thresholds.commands:measures_command", "List what thresholds can be set on."),
    "parse": Lazy("workloads.parsing:parse_command", "Parse the recordings of a run to tables."),
    "payload": Lazy("results.commands:payload_command", "Write the results of a run as one document and print it."),
    "plotter": Lazy("imports.scale_test_tool.commands:plotter", "Plot a directory of the scale-test-tool."),
    "regress": Lazy("verdicts.regression.commands:regress_command", "Judge a run by the runs of a history."),
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
    "Analyse run directories of psap.perf: tables, KPIs, plots and a report that opens from disk.",
)
cli.context_settings["help_option_names"] = ["-h", "--help"]
# read by perfanalysis.__main__, before click
cli.params.append(click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."))
