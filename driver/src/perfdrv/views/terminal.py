"""The choice of the view."""

from __future__ import annotations

import sys

from perfdrv.views.live import LiveView
from perfdrv.views.plain import PlainView
from perfdrv.views.scene import SurvivingView, View


def open_view() -> View:
    """Return the live view if stdout is a terminal, otherwise dated lines."""
    return SurvivingView(LiveView() if sys.stdout.isatty() else PlainView(sys.stdout))
