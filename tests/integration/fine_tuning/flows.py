"""The flow fine_tuning as its users run it, on a lab."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.conftest import Lab

RECAP = re.compile(r"^\S+\s+: ok=\d+\s+changed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class FlowResult:
    """A run that has ended."""

    code: int
    output: str
    directory: Path

    @property
    def document(self) -> dict[str, Any]:
        """Its run.json."""
        document: dict[str, Any] = json.loads((self.directory / "run.json").read_text())
        return document

    @property
    def changed(self) -> int:
        """The number of changed tasks, on all hosts."""
        return sum(int(count) for count in RECAP.findall(self.output))

    def documents(self, name: str) -> list[dict[str, Any]]:
        """Return all documents called *name*, in the order of their directories."""
        return [json.loads(path.read_text()) for path in sorted(self.directory.rglob(name))]

    def commands(self) -> list[dict[str, str]]:
        """Return the rows of the timeline that are commands."""
        with (self.directory / "timeline.csv").open(newline="") as file:
            return [row for row in csv.DictReader(file) if row["kind"] == "command"]


@dataclass(frozen=True)
class Flow:
    """Runs the flow on *lab*; runs go below *runs*."""

    lab: Lab
    runs: Path

    def play(self, *words: str, presets: tuple[str, ...] = ("lab",), **settings: Any) -> FlowResult:
        """Run the flow by ansible-playbook."""
        named = [word for preset in presets for word in ("-e", f"@presets/{preset}.yml")]
        command = ("ansible-playbook", "playbooks/fine_tuning.yml", "-i", "inventories/lab", *named)
        return self._run(*command, "-e", json.dumps(settings), *words)

    def drive(self, *words: str) -> FlowResult:
        """Run the flow by perfdrv."""
        return self._run("perfdrv", "run", *words)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the flow by perfdrv."""
        return self.lab.start(self.runs, "perfdrv", "run", *words)

    def _run(self, *command: str) -> FlowResult:
        done = self.lab.run(self.runs, *command)
        return FlowResult(done.returncode, done.stdout + done.stderr, max(self.runs.iterdir(), key=_last_start))


def _last_start(directory: Path) -> str:
    """Return the start of the run's last attempt, so that a resumed run counts as the latest."""
    return str(json.loads((directory / "run.json").read_text())["attempts"][-1]["started"])
