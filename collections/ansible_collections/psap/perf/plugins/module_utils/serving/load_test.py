"""The marker of a load test for the analysis: what the results of the load generator do not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab


def marker(asked: Mapping[str, Any], version: str, lab: Lab | None) -> dict[str, Any]:
    """The document beside the results.

    :param asked: the arguments of the command, of which it has those that describe what is served.
    :param version: that of what serves the model.
    """
    told = {name: asked[name] or None for name in ("flavor", "runtime_image", "gpu_product")}
    given = {name: asked[name] for name in ("limits", "gpu_hour_prices", "phase", "round") if asked.get(name)}
    return {
        "schema": "psap.perf/load-test/1",
        "model": asked["model_name"] or None,
        "version": version or None,
        **told,
        "gpus": asked["gpus"] or None,
        **given,
        "lab": lab.document() if lab else None,
    }
