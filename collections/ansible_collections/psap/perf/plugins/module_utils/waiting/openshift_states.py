"""The predicates for OpenShift's objects, which are rows of the table in ``predicates``."""

from __future__ import annotations

import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Predicate, Verdict, condition

# conditions of a stable operator, the same as in `oc adm wait-for-stable-cluster`
_STABLE = {"Available": "True", "Progressing": "False", "Degraded": "False"}
# phases of a Build that ended without an image
_BUILD_OVER = ("Failed", "Error", "Cancelled")


def cluster_operator_ready(obj: Object) -> Verdict:
    """Return whether the operator is available, and neither progressing nor degraded."""
    for kind, wanted in _STABLE.items():
        found = condition(obj, kind) or {}
        if found.get("status") != wanted:
            words = ": ".join(filter(None, (found.get("reason"), found.get("message"))))
            status = f"{kind} is {found.get('status', 'not set yet')}"
            return Verdict(False, f"{status}, {words}" if words else status)
    return Verdict(True)


def build_completed(obj: Object) -> Verdict:
    """Return whether the Build has pushed its image; hopeless with the end of its log if it failed or was cancelled."""
    status = obj.get("status", {})
    phase = status.get("phase", "New")
    words = ": ".join(filter(None, (status.get("reason"), status.get("message"))))
    note = f"phase {phase}{f', {words}' if words else ''}"
    log = " / ".join(line.strip() for line in status.get("logSnippet", "").splitlines() if line.strip())
    return Verdict(phase == "Complete", f"{note}; its log ends: {log}" if log else note, phase in _BUILD_OVER)


def update_accepted(obj: Object) -> Verdict:
    """Return whether the cluster has the release image of its ``spec``, or is being updated to it."""
    image = _desired_image(obj)
    if image in ("", obj.get("status", {}).get("desired", {}).get("image")):
        return Verdict(True)
    accepted = condition(obj, "ReleaseAccepted") or {}
    message = accepted.get("message", "")
    # a message about an earlier image is not relevant
    refused = accepted.get("status") == "False" and image in message
    return Verdict(False, message if refused else f"{image} is not accepted yet", refused)


def update_completed(obj: Object) -> Verdict:
    """Return whether the newest entry of the history is complete, and has the release image of the ``spec``."""
    status = obj.get("status", {})
    newest = (status.get("history") or [{}])[0]
    progressing, failing = condition(obj, "Progressing") or {}, condition(obj, "Failing") or {}
    if newest.get("state") == "Completed" and _desired_image(obj) in ("", newest.get("image")):
        return Verdict(True)
    if failing.get("status") == "True":
        return Verdict(False, f"Failing: {failing.get('reason', '')}: {failing.get('message', '')}", True)
    return Verdict(False, progressing.get("message") or "the update has not begun")


def _desired_image(obj: Object) -> str:
    return str((obj.get("spec", {}).get("desiredUpdate") or {}).get("image") or "")


def unchanged_for(duration_s: float) -> Predicate:
    """Return a predicate: no condition has changed for that long, by its timestamps and this machine's clock."""

    def predicate(obj: Object) -> Verdict:
        conditions = obj.get("status", {}).get("conditions") or []
        times = [entry["lastTransitionTime"] for entry in conditions if entry.get("lastTransitionTime")]
        if not times:
            return Verdict(False, "its conditions have no time of a change")
        newest = max(parse_utc(text) for text in times)
        age_s = (datetime.datetime.now(datetime.UTC) - newest).total_seconds()
        return Verdict(age_s >= duration_s, f"unchanged for {max(age_s, 0):.0f} of {duration_s:g} s")

    return predicate
