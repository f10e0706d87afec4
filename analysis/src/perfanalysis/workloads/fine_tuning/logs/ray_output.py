"""The output of a Ray job: workers' lines of training steps, Ray Train's result tables, and network benchmarks.

The worker and the table of its result both print a step; they become one record.
"""

from __future__ import annotations

import re
from dataclasses import replace

from perfanalysis.units import DURATION, read_duration
from perfanalysis.workloads.fine_tuning.logs.records import Gathered, Line, Problem, TrainingStep, finite, not_finite

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)"
PRINTED = re.compile(rf"\[epoch (\d+) step (\d+)\] loss: ({NUMBER})(?: step-time: ({NUMBER}))?", re.IGNORECASE)
PRINTED_PART = re.compile(r"\[epoch \d+ step")
ROW = re.compile(r"^\s*[│|]\s*([\w/.-]+)\s+(.*?)\s*[│|]\s*$")
OPENING, CLOSING = ("╭", "┌"), ("╰", "└")
EDGES = ("│", "|")
WORDS = ("[epoch", "Total running", "took", "---", "bits/sec")
"""A line outside of a table without any of these is irrelevant."""
RESULT = "Training result"
RUNNING_TIME = re.compile(rf"Total running time: ({DURATION})")
TOOK = re.compile(r"\btook (\d+(?:\.\d+)?) seconds")
VERDICT = re.compile(r"--- (PASSED|FAILED): (.+?) ---")
IPERF = re.compile(
    r"\[\s*(SUM|\d+)\]\s+(\d+\.\d+)-\s*(\d+\.\d+)\s+sec\s+[\d.]+\s+[KMGT]?Bytes\s+([\d.]+)\s+([KMGT]?)bits/sec(.*)"
)
PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NEAR = 4
LOSSES = ("train_loss_batch", "loss", "train_loss")


class RayReader:
    """Reads steps, results and benchmarks."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self.problems: list[Problem] = []
        self._table: dict[str, object] | None = None
        self._table_at: Line | None = None
        self._named = False
        self._streams: dict[str, dict[bool, list[tuple[int, float]]]] = {}

    def feed(self, line: Line) -> None:
        """Read one piece of a line."""
        text = line.text.strip()
        if text.startswith(OPENING):
            self._abandon()
            self._table, self._table_at, self._named = {}, line, False
        elif text.startswith(CLOSING):
            self._finish()
        elif self._table is not None and text[:1] in EDGES and (row := ROW.match(text)):
            self._named = self._named or f"{row[1]} {row[2]}" == RESULT
            self._table[row[1]] = row[2]
        else:
            self._words(line)

    def close(self) -> None:
        """Count open tables as truncated; of parallel streams, only the sum counts."""
        self._abandon()
        for role, kinds in self._streams.items():
            for number, value in kinds.get(True) or kinds[False]:
                self.gathered.fact(number, f"iperf_{role}_bits_per_second", value)

    def _words(self, line: Line) -> None:
        if not any(word in line.text for word in WORDS):
            return
        printed = PRINTED.search(line.text)
        if printed is not None:
            self._printed(line, *printed.groups())
        elif PRINTED_PART.search(line.text):
            self.gathered.torn.append(line.number)
        running = RUNNING_TIME.search(line.text)
        if running is not None:
            seconds = read_duration(running[1])
            self.gathered.fact(line.number, "total_running_time_s", seconds)
        took = TOOK.search(line.text)
        if took is not None:
            self.gathered.fact(line.number, "benchmark_time_s", finite(took[1]))
        verdict = VERDICT.search(line.text)
        if verdict is not None and verdict[1] == "FAILED":
            self.problems.append(
                Problem("benchmark failed", line.number, f"the benchmark printed FAILED: {verdict[2]}")
            )
        stream = IPERF.search(line.text)
        if stream is not None:
            self._stream(line, stream)

    def _stream(self, line: Line, match: re.Match[str]) -> None:
        rate = finite(match[4])
        role = next((role for role in ("sender", "receiver") if role in match[6]), None)
        if rate is not None and role is not None:
            kinds = self._streams.setdefault(role, {True: [], False: []})
            kinds[match[1] == "SUM"].append((line.number, rate * PREFIXES[match[5]]))

    def _printed(self, line: Line, epoch: str, step: str, loss: str, time: str | None) -> None:
        values: dict[str, object] = {"loss": loss}
        made = TrainingStep(
            line=line.number,
            epoch=finite(epoch),
            number=finite(step),
            own_number=True,
            at_s=line.at_s,
            loss=finite(loss),
            step_time_s=finite(time),
            not_finite=not_finite(values, ("loss",)),
        )
        self._add(made)

    def _finish(self) -> None:
        values, line = self._table, self._table_at
        self._table = self._table_at = None
        if values is None or line is None or not self._named:
            return
        loss = next((values[name] for name in LOSSES if finite(values.get(name)) is not None), None)
        number = finite(values.get("iteration"))
        self.gathered.fact(line.number, "time_total_s", finite(values.get("time_total_s")))
        if loss is None and finite(values.get("eval_loss")) is None and number is None:
            return
        made = TrainingStep(
            line=line.number,
            epoch=finite(values.get("epoch")),
            number=number if number is not None else finite(values.get("training_iteration")),
            own_number=True,
            elapsed_s=finite(values.get("time_total_s")),
            loss=finite(loss),
            eval_loss=finite(values.get("eval_loss")),
            learning_rate=finite(values.get("learning_rate")),
            not_finite=not_finite(values, (*LOSSES, "eval_loss")),
        )
        self._add(made)

    def _add(self, made: TrainingStep) -> None:
        """Add a record, or complete the record of the same step."""
        steps = self.gathered.steps
        for place in range(len(steps) - 1, max(len(steps) - 1 - NEAR, -1), -1):
            if (steps[place].epoch, steps[place].number) == (made.epoch, made.number):
                known = {name: value for name, value in vars(made).items() if value is not None and name != "line"}
                kept = {name: value for name, value in vars(steps[place]).items() if value not in (None, ())}
                steps[place] = replace(steps[place], **{**known, **kept})
                return
        steps.insert(self._place(made), made)

    def _place(self, made: TrainingStep) -> int:
        """Return the index for a record: workers' lines and tables may overtake each other by a few steps."""
        steps = self.gathered.steps
        place = len(steps)
        for before in reversed(steps[-NEAR:]):
            same = before.epoch == made.epoch and before.number is not None and made.number is not None
            if not same or not 0 < (before.number or 0.0) - (made.number or 0.0) <= NEAR:
                break
            place -= 1
        return place

    def _abandon(self) -> None:
        if self._table_at is not None and self._named:
            self.gathered.torn.append(self._table_at.number)
        self._table = self._table_at = None
