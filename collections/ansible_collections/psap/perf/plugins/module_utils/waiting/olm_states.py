"""Whether OLM's objects have reached a state; rows of the table in ``predicates``."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict, condition

# conditions of a Subscription with which nothing gets installed
_UNRESOLVED = ("ResolutionFailed", "BundleUnpackFailed")
# phases between a failure of a ClusterServiceVersion and the next one
_RETRIED = ("Failed", "Pending", "InstallReady")


def catalog_ready(obj: Object) -> Verdict:
    """OLM is connected to what serves the CatalogSource."""
    state = (obj.get("status", {}).get("connectionState") or {}).get("lastObservedState")
    return Verdict(state == "READY", f"its connection is {state or 'not there yet'}")


def subscription_resolved(obj: Object) -> Verdict:
    """OLM knows what to install for the Subscription, or has installed it.

    Why it cannot know may pass, when a catalog is being replaced: give the wait some patience.
    """
    for kind in _UNRESOLVED:
        entry = condition(obj, kind)
        if entry is not None and entry.get("status") == "True":
            return Verdict(False, f"{kind}: {entry.get('message') or entry.get('reason')}", hopeless=True)
    status = obj.get("status", {})
    known = bool(status.get("installedCSV") or (status.get("installPlanRef") or {}).get("name"))
    return Verdict(known, "OLM has made no InstallPlan for it yet")


def install_plan_completed(obj: Object) -> Verdict:
    """All that the InstallPlan names is made; one that failed is not tried again."""
    phase = obj.get("status", {}).get("phase") or "not known yet"
    installed = condition(obj, "Installed") or {}
    words = " ".join(filter(None, (installed.get("reason"), installed.get("message"))))
    note = f"phase {phase}{f': {words}' if words else ''}"
    return Verdict(phase == "Complete", note, hopeless=phase == "Failed")


def csv_succeeded(obj: Object) -> Verdict:
    """The ClusterServiceVersion has succeeded.

    OLM tries one that failed again, dozens of times a second at first: give the wait some patience. That it is about to
    be tried once more is no progress; that its Deployments are there is.
    """
    status = obj.get("status", {})
    shown = _failure(status) or status
    phase = shown.get("phase") or "not known yet"
    words = ": ".join(filter(None, (shown.get("reason"), shown.get("message"))))
    return Verdict(phase == "Succeeded", f"phase {phase}, {words}" if words else f"phase {phase}", phase == "Failed")


def _failure(status: Object) -> Object | None:
    """The last failure of a ClusterServiceVersion that has not come further since."""
    if status.get("phase") in _RETRIED:
        for entry in reversed(status.get("conditions") or ()):
            if entry["phase"] not in _RETRIED:
                return None
            if entry["phase"] == "Failed":
                return dict(entry)
    return None
