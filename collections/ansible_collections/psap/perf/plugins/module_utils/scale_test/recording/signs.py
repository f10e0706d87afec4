"""Signs of milestones, declared as data: what the state of an object shows once it has reached a milestone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Optional

import jmespath
import jmespath.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.clock import Stamp, stamp
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

# Optional, because pylint of ansible-test does not infer the type of Stamp | None
Reached = tuple[Optional[Stamp], Optional[str]]  # noqa: UP045
"""The server's time of a milestone and its reason, as far as the object has them."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A condition of the type *condition* with the status True, or a true JMESPath expression *when*.

    Attributes:
        time: JMESPath of the server's time; by default the condition's last transition.
        reason: JMESPath of the reason; by default the condition's.
    """

    condition: str = ""
    when: str = ""
    time: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        """Raise UsageError if it has not exactly one of *condition* and *when*, or an expression is invalid."""
        if bool(self.condition) == bool(self.when):
            raise UsageError("a sign needs either condition or when")
        for text in (self.when, self.time, self.reason):
            if text:
                _compiled(text)

    def find(self, obj: Mapping[str, Any]) -> Reached | None:
        """Return time and reason if the state of *obj* has this sign, otherwise None."""
        if self.when:
            return self._reached(obj, {}) if _search(self.when, obj) else None
        for condition in (obj.get("status") or {}).get("conditions") or ():
            if condition.get("type") == self.condition and condition.get("status") == "True":
                return self._reached(obj, condition)
        return None

    def _reached(self, obj: Mapping[str, Any], condition: Mapping[str, Any]) -> Reached:
        time = _search(self.time, obj) if self.time else condition.get("lastTransitionTime")
        reason = _search(self.reason, obj) if self.reason else condition.get("reason")
        try:
            return stamp(time), str(reason) if reason else None
        except (AttributeError, TypeError, ValueError) as error:
            sign = self.condition or self.when
            raise UsageError(
                f"invalid time {time!r} of {sign}: use a field with a time of Kubernetes, such as 2026-01-31T08:00:00Z"
            ) from error


def _search(text: str, obj: Mapping[str, Any]) -> Any:
    try:
        return _compiled(text).search(obj)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"the expression {text} cannot be evaluated: {error}") from error


@lru_cache(maxsize=128)
def _compiled(text: str) -> Any:
    try:
        return jmespath.compile(text)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"{text} is not JMESPath: {error}") from error
