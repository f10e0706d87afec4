"""Hugging Face's Trainer, which fms-hf-tuning's SFT trainer is based on.

It prints a dictionary every few steps and one at the end, in Python's notation, with a progress bar around them. Only
the bar contains the step and the time.
"""

from __future__ import annotations

import re

from perfanalysis.workloads.fine_tuning.logs.records import Gathered, Line, TrainingStep, finite, not_finite

DICTIONARY = re.compile(r"\{'[^{}]*\}")
PAIR = re.compile(
    r"'([\w./-]+)':\s*'?([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf|NaN|Infinity))'?\s*(?=[,}])"
)
PART = re.compile(r"'(?:loss|eval_loss|train_runtime)':|'learning_rate':[^{}]*'epoch':")
"""Text that an incomplete record leaves outside of complete dictionaries."""
BAR = re.compile(r"^\s*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[(?:(\d+):)?(\d+):(\d\d)<")
STATED = re.compile(
    r"(Num examples|Num Epochs|Instantaneous batch size per device|Total train batch size|"
    r"Gradient Accumulation steps|Total optimization steps|Number of trainable parameters)"
    r"(?: \([^)]*\))?\s*=\s*([\d,]+)"
)
METRIC = re.compile(r"^\s+(train_\w+|epoch)\s+=\s+(?:(\d+):(\d\d):(\d\d(?:\.\d+)?)|(\d+(?:\.\d+)?))\s*$")
DATASET = re.compile(
    r"\b(total_tokens|total_samples|avg_tokens_per_sample|max_seq_token)\b['\"]?\s*[:=]\s*['\"]?(\d+(?:\.\d+)?)"
)
STEP_NUMBERS = ("loss", "eval_loss", "grad_norm", "learning_rate")
TOKENS_SEEN = ("num_tokens", "num_input_tokens_seen")
SUMMARY = ("train_samples_per_second", "train_loss")


class HfTrainerReader:
    """Reads the Trainer's dictionaries, its bar, and the facts it prints at its start."""

    def __init__(self, logging_steps: float = 1.0) -> None:
        self.gathered = Gathered()
        self._every = logging_steps
        self._bar = (0.0, 0.0)
        self._total: float | None = None
        self._last = 0.0

    def feed(self, line: Line) -> None:
        """Read one piece of a line; it may contain a bar and a dictionary, or several dictionaries."""
        if "%|" in line.text:
            self._read_bar(line.text)
        if " = " in line.text or "= " in line.text or "_token" in line.text or "total_samples" in line.text:
            self._read_facts(line)
        if "':" not in line.text:
            return
        rest = []
        end = 0
        for match in DICTIONARY.finditer(line.text):
            rest.append(line.text[end : match.start()])
            end = match.end()
            self._take(line, dict(PAIR.findall(match[0])))
        rest.append(line.text[end:])
        if any(PART.search(part) for part in rest):
            self.gathered.torn.append(line.number)

    def close(self) -> None:
        """Do nothing: no record spans lines."""

    def _read_bar(self, text: str) -> None:
        match = BAR.match(text)
        if match is None:
            return
        position, total = float(match[1]), float(match[2])
        # the first bar without a name is the training's; an evaluation's has another total
        self._total = self._total or total
        if total == self._total:
            self._bar = position, 3600.0 * int(match[3] or 0) + 60.0 * int(match[4]) + int(match[5])

    def _read_facts(self, line: Line) -> None:
        for name, value in STATED.findall(line.text):
            number = finite(value.replace(",", ""))
            self.gathered.fact(line.number, name.lower().replace(" ", "_"), number)
            if name == "Total optimization steps" and number:
                self._total = number
        metric = METRIC.match(line.text)
        # the block repeats the dictionary with fewer digits
        if metric is not None and all(fact.name != metric[1] for fact in self.gathered.facts):
            hours, minutes, seconds = (finite(part) for part in metric.group(2, 3, 4))
            spelled = None if seconds is None else 3600 * (hours or 0) + 60 * (minutes or 0) + seconds
            self.gathered.fact(line.number, metric[1], finite(metric[5]) if spelled is None else spelled)
        for name, value in DATASET.findall(line.text):
            self.gathered.fact(line.number, name, finite(value))

    def _take(self, line: Line, values: dict[str, object]) -> None:
        if any(name in values for name in SUMMARY):
            for name, value in values.items():
                self.gathered.fact(line.number, name, finite(value))
        elif "loss" in values or "eval_loss" in values:
            self.gathered.steps.append(self._step(line, values))

    def _step(self, line: Line, values: dict[str, object]) -> TrainingStep:
        number, elapsed = self._place(evaluation="loss" not in values)
        counts = (finite(values.get(name)) for name in TOKENS_SEEN)
        return TrainingStep(
            line=line.number,
            number=number,
            epoch=finite(values.get("epoch")),
            at_s=line.at_s,
            elapsed_s=elapsed,
            loss=finite(values.get("loss")),
            eval_loss=finite(values.get("eval_loss")),
            grad_norm=finite(values.get("grad_norm")),
            learning_rate=finite(values.get("learning_rate")),
            tokens_seen=next((count for count in counts if count is not None), None),
            not_finite=not_finite(values, STEP_NUMBERS),
        )

    def _place(self, *, evaluation: bool) -> tuple[float, float | None]:
        """Return the step that a record belongs to, and the bar's time if the bar has moved with it."""
        position, elapsed = self._bar
        if evaluation:
            return max(self._last, position), None
        moved = position > self._last
        self._last = position if moved else self._last + self._every
        return self._last, elapsed if moved else None
