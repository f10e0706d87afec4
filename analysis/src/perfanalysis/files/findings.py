"""What the reader of a report must know about the data it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import click

from perfanalysis.errors import DataQualityError

Severity = Literal["error", "warning", "note"]
Cause = Literal["", "lost"]
"""What programs must tell apart: workloads that were lost, which a threshold may allow."""


@dataclass(frozen=True)
class Finding:
    """One sentence about missing, torn or contradictory data.

    `error` means that numbers cannot be trusted to be complete (exit code 5), `warning` that a part is missing,
    `note` that something was left out on purpose. `where` is a path relative to the run, or a table's name.
    """

    severity: Severity
    where: str
    text: str
    cause: Cause = ""


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings to the standard error."""
    for finding in findings:
        click.echo(f"{finding.severity}: {finding.where}: {finding.text}", err=True)


def refuse_incomplete(findings: Iterable[Finding]) -> None:
    """Raise DataQualityError when a finding makes numbers incomplete; what was written stays."""
    sentences = [finding.text for finding in findings if finding.severity == "error"]
    if sentences:
        raise DataQualityError(f"the data is not complete: {'; '.join(sentences)}")
