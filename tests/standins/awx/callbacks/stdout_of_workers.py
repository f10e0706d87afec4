"""Write to stdout for each displayed line, in workers too, as ansible-runner 2.4.0 does in jobs of AWX."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ansible.plugins.callback import CallbackBase
from ansible.utils.display import Display


def _marked(display: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(display)
    def marked(*words: Any, **options: Any) -> None:
        if not options.get("log_only"):
            sys.stdout.write("\x1b[K")
        display(*words, **options)

    return marked


Display.display = _marked(Display.display)


class CallbackModule(CallbackBase):  # type: ignore[misc]  # ansible-core has no types
    """Has no methods; loading the module is what has an effect."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "stdout_of_workers"
