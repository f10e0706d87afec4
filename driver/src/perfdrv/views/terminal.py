"""Which view a run gets."""

from __future__ import annotations

import sys

from perfdrv.views.live import LiveView
from perfdrv.views.plain import PlainView
from perfdrv.views.scene import SurvivingView, View


def open_view() -> View:
    """The view that suits where stdout goes."""
    return SurvivingView(LiveView() if sys.stdout.isatty() else PlainView(sys.stdout))
