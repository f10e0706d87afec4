"""Delays and failures of an emulator's steps, for tests of waits, timeouts and captures.

The values in the ConfigMap `kube-system/perflab-steps`, `EMULATOR.STEP`, or `EMULATOR.STEP.OBJECT` for a single object,
are `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`. `perflab step` writes them. A step without a value takes no time
and succeeds. A package declares its steps as `STEPS`, and numbers that are not times as `NUMBERS`.
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
# annotation of an object whose steps take time: when each began
_BEGUN = "lab.psap.perf/steps"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Declarations:
    """What can be set of an emulator: step → its description, from what to what; number → its description."""

    steps: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepSetting:
    """The setting of a step: its duration in seconds, infinity for never, and the text of its failure, if any."""

    delay_s: float = 0.0
    failure: str | None = None


def parse(text: str) -> StepSetting:
    """Parse `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`. Raises ValueError for any other text."""
    before, fail, failure = text.partition(_FAIL)
    delay = before.strip().removesuffix(",").strip() if fail else text.strip()
    if delay == NEVER and not fail:
        return StepSetting(math.inf)
    delay_s = 0.0 if fail and not delay else parse_duration(delay)
    if delay_s is None or (fail and not failure.strip()):
        raise ValueError(f"invalid step {text!r}: write `5s`, `never`, `fail: TEXT` or `5s, fail: TEXT`")
    return StepSetting(delay_s, failure.strip() if fail else None)


class Steps:
    """The current settings of the steps of one emulator in the ConfigMap."""

    def __init__(self, name: str, known: Declarations, store: Store) -> None:
        """*store* contains the ConfigMap, once it exists."""
        self.name = name
        self.known = known
        self._store = store

    @property
    def version(self) -> str:
        """Return the version of the ConfigMap, empty if it does not exist."""
        document = self._document()
        return str(document["metadata"]["resourceVersion"]) if document else ""

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when a setting changes: waiting steps may be due."""
        self._store.listen(lambda _old, _new: callback())

    def number(self, name: str, default: float) -> float:
        """Return the number that is set, or the default."""
        if name not in self.known.numbers:
            raise ValueError(f"the emulator {self.name!r} declares no number {name!r}")
        text = self._data().get(f"{self.name}.{name}")
        try:
            return default if text is None else float(text)
        except ValueError:
            _log.warning("%s.%s: %r is not a number", self.name, name, text)
            return default

    def of(self, step: str, name: str, own_delay_s: float = 0.0) -> StepSetting:
        """Return the setting of this step for the object called *name*; its duration is *own_delay_s* if nothing is
        set.
        """
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
    """The state of a step of an object: it waits, or has failed with a text, or is done."""

    waiting: bool = False
    failure: str | None = None

    @property
    def done(self) -> bool:
        """Return whether the delayed action can be done."""
        return not self.waiting and self.failure is None


class Progress:
    """The steps of one object that take time; an annotation of the object has the start of each.

    So a delay continues when the process of the emulators is restarted.
    """

    def __init__(self, steps: Steps, document: Document | None) -> None:
        """*document* is the object; steps of None take no time."""
        self.wait_s = math.inf
        self._steps = steps
        self._document = document
        self._begun = _read(document)
        self._now = datetime.datetime.now(datetime.UTC)

    def check(self, step: str, name: str, outstanding: bool = True, own_delay_s: float = 0.0) -> StepState:
        """Return the state of this step, whose OBJECT is *name*; it ends when the delayed action is not *outstanding*
        any more.

        *own_delay_s* is its duration if nothing is set.
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
        """Forget the start of this step for objects with other names."""
        kept = {self._key(step, name) for name in names}
        prefix = self._key(step, "")
        self._begun = {key: at for key, at in self._begun.items() if key in kept or not key.startswith(prefix)}

    async def save(self, store: Store) -> None:
        """Write the starts to the object, if they changed."""
        if self._document is not None and self._begun != _read(self._document):
            text = json.dumps(self._begun) if self._begun else None
            await store.patch(key_of(self._document), {"metadata": {"annotations": {_BEGUN: text}}})

    def _key(self, step: str, name: str) -> str:
        return f"{self._steps.name}.{step}.{name}"


def _read(document: Document | None) -> dict[str, str]:
    """Return step → its start, from the object's annotation."""
    try:
        found = json.loads(own_annotations(document).get(_BEGUN) or "{}") if document else {}
        # values that others wrote there are ignored
        return {key: str(datetime.datetime.fromisoformat(at)) for key, at in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
