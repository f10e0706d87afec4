"""Findings: notes, warnings and errors about the data of a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import click

from perfanalysis.errors import DataQualityError

Severity = Literal["error", "warning", "note"]
Cause = Literal["", "lost"]
"""For programs: workloads were lost, which a threshold may allow."""


@dataclass(frozen=True)
class Finding:
    """One sentence about missing, truncated or contradictory data.

    Attributes:
        severity: `error` if numbers may be incomplete (exit code 5), `warning` if a part is missing, `note` if
            something was left out on purpose.
        where: A path relative to the run, or a table's name.
    """

    severity: Severity
    where: str
    text: str
    cause: Cause = ""


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings to stderr."""
    for finding in findings:
        click.echo(f"{finding.severity}: {finding.where}: {finding.text}", err=True)


def refuse_incomplete(findings: Iterable[Finding]) -> None:
    """Raise DataQualityError if a finding makes numbers incomplete; written files remain."""
    sentences = [finding.text for finding in findings if finding.severity == "error"]
    if sentences:
        raise DataQualityError(f"the data is incomplete: {'; '.join(sentences)}")
