"""The files of fetched profiles, and their verdict."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.profiling.fetching import FetchedProfile, profile_document

SCHEMA = "psap.perf/profiles/1"
FILE = "profiles.json"
# why profiles of the background could not be fetched at all
FAILURE_FILE = "profiles_failure.txt"


def write_profiles(
    artifacts: Path, fetched: Iterable[FetchedProfile], absent: Iterable[str], lab: Lab | None
) -> dict[str, Any]:
    """Write the profiles and, last, the list of them; return the list.

    Args:
        absent: Components without a pod.
    """
    (artifacts / "profiles").mkdir(parents=True, exist_ok=True)
    known = list(fetched)
    for each in known:
        if each.content:
            with completing(artifacts / "profiles" / each.target.file) as partial:
                partial.write_bytes(each.content)
    document = {
        "schema": SCHEMA,
        "lab": lab.document() if lab else None,
        "absent": list(absent),
        "profiles": [profile_document(each) for each in known],
    }
    write_json(artifacts / FILE, document)
    return document


def check_profiles(document: dict[str, Any]) -> None:
    """Raise an error if profiles are missing.

    Raises:
        DataQualityError: If so, with the reasons.
    """
    missing = [
        f"{each['profile']} profile of {each['component']}{_pod(each)}: {each['error']}"
        for each in document["profiles"]
        if "error" in each
    ]
    missing += [f"{component}: no running pod found" for component in document["absent"]]
    if missing:
        failure = DataQualityError(f"missing profiles: {'; '.join(missing)}")
        failure.result = {"profiles": document["profiles"]}
        raise failure


def _pod(profile: dict[str, Any]) -> str:
    return f" of pod {profile['namespace']}/{profile['pod']}" if profile["pod"] else ""
