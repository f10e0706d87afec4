"""When OpenShift AI's own kinds, DSCInitialization and DataScienceCluster, are as they were asked to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict

_ENABLED = ("Managed", "Unmanaged")
# components whose name in status.installedComponents is another one
_INSTALLED_AS: Mapping[str, str] = {
    "datasciencepipelines": "data-science-pipelines-operator",
    "modelmeshserving": "model-mesh",
    "modelregistry": "model-registry-operator",
}


def data_science_ready(obj: Object) -> Verdict:
    """The operator has seen the newest generation, is through with it, and what is installed is what was asked for.

    Versions before 2.17 tell no generation; with those, what is installed shows whether Ready is of an earlier wish.
    """
    status = obj.get("status", {})
    if obj["metadata"].get("deletionTimestamp"):
        return Verdict(False, "it is being deleted")
    if status.get("observedGeneration", obj["metadata"].get("generation", 0)) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the operator has not seen the newest generation yet")
    if not status.get("phase"):
        return Verdict(False, "the operator has not looked at it yet; does it run?")
    lacking = [*_not_ready(obj), *_not_as_asked(obj)]
    if status["phase"] != "Ready" or lacking:
        return Verdict(False, "; ".join([f"phase {status['phase']}", *lacking]))
    return Verdict(True)


def managed_components(obj: Object) -> dict[str, bool]:
    """Return the components that a DataScienceCluster names, and whether they are enabled.

    Kueue is enabled as Unmanaged, too: the operator then configures the one that its own operator installed.
    """
    components = obj.get("spec", {}).get("components") or {}
    return {name: (wish or {}).get("managementState") in _ENABLED for name, wish in components.items()}


def _not_ready(obj: Object) -> Iterator[str]:
    """What the conditions of the wanted components say, where they are not true."""
    wanted = {f"{name}ready" for name, managed in managed_components(obj).items() if managed}
    for entry in obj.get("status", {}).get("conditions") or []:
        kind = str(entry.get("type", ""))
        # ReconcileComplete is the one of a DSCInitialization
        if entry.get("status") != "True" and (kind.lower() in wanted or kind == "ReconcileComplete"):
            yield f"{kind} is {entry.get('status')}: {entry.get('message') or entry.get('reason', '')}"


def _not_as_asked(obj: Object) -> Iterator[str]:
    # v2 has no such list, and always an observedGeneration
    installed = obj.get("status", {}).get("installedComponents")
    states = obj.get("spec", {}).get("components") or {}
    for name, managed in managed_components(obj).items() if installed is not None else ():
        if (states[name] or {}).get("managementState") == "Unmanaged":
            continue
        there = installed.get(name, installed.get(_INSTALLED_AS.get(name, ""), False))
        if there and not managed:
            yield f"{name} is still installed"
        elif managed and not there:
            yield f"{name} is not installed yet"
