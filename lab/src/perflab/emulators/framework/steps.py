"""Delays and failures of an emulator's steps, which tests of waits, timeouts and captures set.

The ConfigMap `kube-system/perflab-steps` has them: `EMULATOR.STEP`, or `EMULATOR.STEP.OBJECT` for one object only,
is `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`. `perflab step` writes it. A step that nothing is said of takes no
time and succeeds. A package declares its steps as `STEPS`, what is not a time but a number as `NUMBERS`.
"""

from __future__ import annotations

import importlib
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from perflab import profiles
from perflab.cluster.api import Document
from perflab.emulators.framework.store import Store
from perflab.emulators.framework.units import parse_duration

STEPS_NAMESPACE, STEPS_NAME = "kube-system", "perflab-steps"
NEVER = "never"
_FAIL = "fail:"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Declared:
    """What can be set of an emulator: step → what it is, from what to what; number → what it is."""

    steps: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """How a step goes: how long it takes in seconds, infinity for never, and with what text it fails, if it does."""

    delay_s: float = 0.0
    failure: str | None = None


def declared(name: str) -> Declared:
    """What the package of the emulator *name* declares."""
    package: Any = importlib.import_module(profiles.package(name))
    return Declared(getattr(package, "STEPS", {}), getattr(package, "NUMBERS", {}))


def parse(text: str) -> Step:
    """The step that `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT` describes; ValueError for any other text."""
    before, fail, failure = text.partition(_FAIL)
    delay = before.strip().removesuffix(",").strip() if fail else text.strip()
    if delay == NEVER and not fail:
        return Step(math.inf)
    delay_s = 0.0 if fail and not delay else parse_duration(delay)
    if delay_s is None or (fail and not failure.strip()):
        raise ValueError(f"{text!r} is not a step; write `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`")
    return Step(delay_s, failure.strip() if fail else None)


class Steps:
    """How the steps of one emulator go, as the ConfigMap says at the moment."""

    def __init__(self, name: str, known: Declared, store: Store) -> None:
        """*store* holds the ConfigMap, once there is one."""
        self._name = name
        self._known = known
        self._store = store
        self._first_asked: dict[tuple[str, str], float] = {}

    @property
    def version(self) -> str:
        """The version of the ConfigMap, empty when there is none."""
        document = self._document()
        return str(document["metadata"]["resourceVersion"]) if document else ""

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when what is set has changed: what waited may be due."""
        self._store.listen(lambda _old, _new: callback())

    def wait_s(self, step: str, document: Document) -> float:
        """Seconds until this step of this object is due: 0 when it is, infinity for never.

        They count from when it was first asked for this object, so ask when the step begins, and not after its end.
        """
        delay_s = self._step(step, document).delay_s
        asked = (step, document["metadata"]["uid"])
        if not delay_s:
            self._first_asked.pop(asked, None)
            return 0.0
        begun = self._first_asked.setdefault(asked, time.monotonic())
        return max(0.0, begun + delay_s - time.monotonic())

    def failure(self, step: str, document: Document) -> str | None:
        """The text with which this step of this object fails, None when it does not."""
        return self._step(step, document).failure

    def number(self, name: str, default: float) -> float:
        """The number that is set, or the default."""
        if name not in self._known.numbers:
            raise ValueError(f"the emulator {self._name!r} declares no number {name!r}")
        text = self._data().get(f"{self._name}.{name}")
        try:
            return default if text is None else float(text)
        except ValueError:
            _log.warning("%s.%s: %r is not a number", self._name, name, text)
            return default

    def _step(self, step: str, document: Document) -> Step:
        if step not in self._known.steps:
            raise ValueError(f"the emulator {self._name!r} declares no step {step!r}")
        key, data = f"{self._name}.{step}", self._data()
        text = data.get(f"{key}.{document['metadata']['name']}", data.get(key))
        try:
            return Step() if text is None else parse(text)
        except ValueError as error:
            _log.warning("%s: %s", key, error)
            return Step()

    def _data(self) -> Mapping[str, str]:
        document = self._document()
        return (document.get("data") or {}) if document else {}

    def _document(self) -> Document | None:
        return self._store.get((STEPS_NAMESPACE, STEPS_NAME))
