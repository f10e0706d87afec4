"""Whether OpenShift's own objects have reached a state, and for how long; rows of the table in ``predicates``."""

from __future__ import annotations

import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Predicate, Verdict, condition

# what a stable operator says of itself, as `oc adm wait-for-stable-cluster` has it
_STABLE = {"Available": "True", "Progressing": "False", "Degraded": "False"}
# without an image
_BUILD_OVER = ("Failed", "Error", "Cancelled")


def cluster_operator_ready(obj: Object) -> Verdict:
    """The operator is available, and neither at work nor degraded."""
    for kind, wanted in _STABLE.items():
        found = condition(obj, kind) or {}
        if found.get("status") != wanted:
            words = ": ".join(filter(None, (found.get("reason"), found.get("message"))))
            status = f"{kind} is {found.get('status', 'not known yet')}"
            return Verdict(False, f"{status}, {words}" if words else status)
    return Verdict(True)


def build_completed(obj: Object) -> Verdict:
    """The Build pushed its image; one that failed or was cancelled never will: why, its log's end says best."""
    status = obj.get("status", {})
    phase = status.get("phase", "New")
    words = ": ".join(filter(None, (status.get("reason"), status.get("message"))))
    note = f"phase {phase}{f', {words}' if words else ''}"
    log = " / ".join(line.strip() for line in status.get("logSnippet", "").splitlines() if line.strip())
    return Verdict(phase == "Complete", f"{note}; its log ends: {log}" if log else note, phase in _BUILD_OVER)


def update_accepted(obj: Object) -> Verdict:
    """The cluster is at the release image that its ``spec`` asks for, or on the way to it."""
    image = _asked(obj)
    if image in ("", obj.get("status", {}).get("desired", {}).get("image")):
        return Verdict(True)
    accepted = condition(obj, "ReleaseAccepted") or {}
    message = accepted.get("message", "")
    # what is said of an earlier image decides nothing
    refused = accepted.get("status") == "False" and image in message
    return Verdict(False, message if refused else f"{image} is not accepted yet", refused)


def update_completed(obj: Object) -> Verdict:
    """The newest entry of the history is complete, and of the release image that the ``spec`` asks for."""
    status = obj.get("status", {})
    newest = (status.get("history") or [{}])[0]
    progressing, failing = condition(obj, "Progressing") or {}, condition(obj, "Failing") or {}
    if newest.get("state") == "Completed" and _asked(obj) in ("", newest.get("image")):
        return Verdict(True)
    if failing.get("status") == "True":
        return Verdict(False, f"Failing: {failing.get('reason', '')}: {failing.get('message', '')}", True)
    return Verdict(False, progressing.get("message") or "the update has not begun")


def _asked(obj: Object) -> str:
    return str((obj.get("spec", {}).get("desiredUpdate") or {}).get("image") or "")


def unchanged_for(duration_s: float) -> Predicate:
    """No condition of the object has changed for that long, by the times that it tells and this machine's clock."""

    def predicate(obj: Object) -> Verdict:
        conditions = obj.get("status", {}).get("conditions") or []
        times = [entry["lastTransitionTime"] for entry in conditions if entry.get("lastTransitionTime")]
        if not times:
            return Verdict(False, "it tells no time of a change")
        newest = max(parse_utc(text) for text in times)
        age_s = (datetime.datetime.now(datetime.UTC) - newest).total_seconds()
        return Verdict(age_s >= duration_s, f"so for {max(age_s, 0):.0f} of {duration_s:g} s")

    return predicate
