"""The steps whose delay and failure can be set."""

from __future__ import annotations

DAEMON_SETS = "daemonsets"
VALIDATION = "validation"
LABELS = "labels"
