"""The predicates for OLM's objects, which are rows of the table in ``predicates``."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict, condition

# conditions of a Subscription that prevent an installation
_UNRESOLVED = ("ResolutionFailed", "BundleUnpackFailed")
# phases between a failure of a ClusterServiceVersion and the next one
_RETRIED = ("Failed", "Pending", "InstallReady")


def catalog_ready(obj: Object) -> Verdict:
    """Return whether OLM is connected to the server of the CatalogSource."""
    state = (obj.get("status", {}).get("connectionState") or {}).get("lastObservedState")
    return Verdict(state == "READY", f"its connection is {state or 'not there yet'}")


def subscription_resolved(obj: Object) -> Verdict:
    """Return whether OLM has an InstallPlan for the Subscription, or has installed it.

    A failure may be temporary while a catalog is being replaced: pass some patience to the wait.
    """
    for kind in _UNRESOLVED:
        entry = condition(obj, kind)
        if entry is not None and entry.get("status") == "True":
            return Verdict(False, f"{kind}: {entry.get('message') or entry.get('reason')}", hopeless=True)
    status = obj.get("status", {})
    resolved = bool(status.get("installedCSV") or (status.get("installPlanRef") or {}).get("name"))
    return Verdict(resolved, "OLM has created no InstallPlan for it yet")


def install_plan_completed(obj: Object) -> Verdict:
    """Return whether all steps of the InstallPlan are done; hopeless if it failed, as OLM does not try it again."""
    phase = obj.get("status", {}).get("phase") or "not set yet"
    installed = condition(obj, "Installed") or {}
    words = " ".join(filter(None, (installed.get("reason"), installed.get("message"))))
    note = f"phase {phase}{f': {words}' if words else ''}"
    return Verdict(phase == "Complete", note, hopeless=phase == "Failed")


def csv_succeeded(obj: Object) -> Verdict:
    """Return whether the ClusterServiceVersion has succeeded.

    After a failure OLM tries again, dozens of times a second at first: pass some patience to the wait. A new attempt is
    no progress; existing Deployments are.
    """
    status = obj.get("status", {})
    shown = _failure(status) or status
    phase = shown.get("phase") or "not set yet"
    words = ": ".join(filter(None, (shown.get("reason"), shown.get("message"))))
    return Verdict(phase == "Succeeded", f"phase {phase}, {words}" if words else f"phase {phase}", phase == "Failed")


def _failure(status: Object) -> Object | None:
    """Return the last failure of a ClusterServiceVersion; None if it has made progress since."""
    if status.get("phase") in _RETRIED:
        for entry in reversed(status.get("conditions") or ()):
            if entry["phase"] not in _RETRIED:
                return None
            if entry["phase"] == "Failed":
                return dict(entry)
    return None
