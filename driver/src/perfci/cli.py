"""The commands that this package adds to `perfdrv`: the table that its entry point names."""

from __future__ import annotations

from perfdrv.command_line.groups import Lazy

COMMANDS = {
    "ci": Lazy("perfci.commands.ci:ci", "Run a flow as a job of a CI system."),
    "export": Lazy("perfci.commands.export:export_command", "Export a run to an S3 store.", of_any=True),
    "history": Lazy("perfci.commands.history:history", "Show the results of many runs.", of_any=True),
    "judge": Lazy("perfci.commands.judge:judge_command", "Judge a run by its history.", of_any=True),
    "notify": Lazy("perfci.commands.notify:notify_command", "Send notifications about a run.", of_any=True),
    "replot": Lazy("perfci.commands.replot:replot_command", "Plot exported runs again.", of_any=True),
}
