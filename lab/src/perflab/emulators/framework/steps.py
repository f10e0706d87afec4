"""Delays and failures of an emulator's steps, which tests of waits, timeouts and captures set.

The ConfigMap `kube-system/perflab-steps` has them: `EMULATOR.STEP`, or `EMULATOR.STEP.OBJECT` for one object only,
is `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`. `perflab step` writes it. A step that nothing is said of takes no
time and succeeds. A package declares its steps as `STEPS`, what is not a time but a number as `NUMBERS`.
"""

from __future__ import annotations

import datetime
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_annotations
from perflab.emulators.framework.store import Store, key_of
from perflab.emulators.framework.units import parse_duration

STEPS_NAMESPACE, STEPS_NAME = "kube-system", "perflab-steps"
NEVER = "never"
_FAIL = "fail:"
# of an object whose steps take time: when each began
_BEGUN = "lab.psap.perf/steps"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Declarations:
    """What can be set of an emulator: step → what it is, from what to what; number → what it is."""

    steps: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepSetting:
    """How a step goes: how long it takes in seconds, infinity for never, and with what text it fails, if it does."""

    delay_s: float = 0.0
    failure: str | None = None


def parse(text: str) -> StepSetting:
    """The step that `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT` describes; ValueError for any other text."""
    before, fail, failure = text.partition(_FAIL)
    delay = before.strip().removesuffix(",").strip() if fail else text.strip()
    if delay == NEVER and not fail:
        return StepSetting(math.inf)
    delay_s = 0.0 if fail and not delay else parse_duration(delay)
    if delay_s is None or (fail and not failure.strip()):
        raise ValueError(f"{text!r} is not a step; write `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`")
    return StepSetting(delay_s, failure.strip() if fail else None)


class Steps:
    """How the steps of one emulator go, as the ConfigMap says at the moment."""

    def __init__(self, name: str, known: Declarations, store: Store) -> None:
        """*store* holds the ConfigMap, once there is one."""
        self.name = name
        self.known = known
        self._store = store

    @property
    def version(self) -> str:
        """The version of the ConfigMap, empty when there is none."""
        document = self._document()
        return str(document["metadata"]["resourceVersion"]) if document else ""

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when what is set has changed: what waited may be due."""
        self._store.listen(lambda _old, _new: callback())

    def number(self, name: str, default: float) -> float:
        """The number that is set, or the default."""
        if name not in self.known.numbers:
            raise ValueError(f"the emulator {self.name!r} declares no number {name!r}")
        text = self._data().get(f"{self.name}.{name}")
        try:
            return default if text is None else float(text)
        except ValueError:
            _log.warning("%s.%s: %r is not a number", self.name, name, text)
            return default

    def of(self, step: str, name: str, own_delay_s: float = 0.0) -> StepSetting:
        """How this step of the object called *name* goes; it takes *own_delay_s* when nothing is set."""
        if step not in self.known.steps:
            raise ValueError(f"the emulator {self.name!r} declares no step {step!r}")
        key, data = f"{self.name}.{step}", self._data()
        text = data.get(f"{key}.{name}", data.get(key))
        try:
            return StepSetting(own_delay_s) if text is None else parse(text)
        except ValueError as error:
            _log.warning("%s: %s", key, error)
            return StepSetting()

    def _data(self) -> Mapping[str, str]:
        document = self._document()
        return (document.get("data") or {}) if document else {}

    def _document(self) -> Document | None:
        return self._store.get((STEPS_NAMESPACE, STEPS_NAME))


@dataclass(frozen=True, slots=True)
class StepState:
    """A step of an object at the moment: it waits, or has failed with a text, or is done."""

    waiting: bool = False
    failure: str | None = None

    @property
    def done(self) -> bool:
        """Whether what it delays can be done."""
        return not self.waiting and self.failure is None


class Progress:
    """The steps of one object that take time: when each began is written on the object, in an annotation.

    So a delay goes on where it was when the process of the emulators is started again.
    """

    def __init__(self, steps: Steps, document: Document | None) -> None:
        """*document* is the object; steps of None take no time."""
        self.wait_s = math.inf
        self._steps = steps
        self._document = document
        self._begun = _read(document)
        self._now = datetime.datetime.now(datetime.UTC)

    def check(self, step: str, name: str, outstanding: bool = True, own_delay_s: float = 0.0) -> StepState:
        """How far this step is, whose OBJECT is *name*; it ends when what it delays is not *outstanding* any more.

        *own_delay_s* is what it takes when nothing is set.
        """
        key, how = self._key(step, name), self._steps.of(step, name, own_delay_s)
        if not outstanding or not how.delay_s or self._document is None:
            self._begun.pop(key, None)
            return StepState(failure=how.failure if outstanding else None)
        begun = datetime.datetime.fromisoformat(self._begun.setdefault(key, self._now.isoformat()))
        left_s = how.delay_s - (self._now - begun).total_seconds()
        if left_s > 0:
            self.wait_s = min(self.wait_s, left_s)
            return StepState(waiting=True)
        return StepState(failure=how.failure)

    def keep_only(self, step: str, names: Iterable[str] = ()) -> None:
        """Forget when this step began for objects with other names."""
        kept = {self._key(step, name) for name in names}
        prefix = self._key(step, "")
        self._begun = {key: at for key, at in self._begun.items() if key in kept or not key.startswith(prefix)}

    async def save(self, store: Store) -> None:
        """Write on the object what has begun, where that is new."""
        if self._document is not None and self._begun != _read(self._document):
            text = json.dumps(self._begun) if self._begun else None
            await store.patch(key_of(self._document), {"metadata": {"annotations": {_BEGUN: text}}})

    def _key(self, step: str, name: str) -> str:
        return f"{self._steps.name}.{step}.{name}"


def _read(document: Document | None) -> dict[str, str]:
    """Step → when it began, as the object's annotation has it."""
    try:
        found = json.loads(own_annotations(document).get(_BEGUN) or "{}") if document else {}
        # what somebody else wrote there counts as nothing
        return {key: str(datetime.datetime.fromisoformat(at)) for key, at in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
