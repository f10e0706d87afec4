"""The marker of a load test for the analysis: facts that the load generator's results do not contain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab


@dataclass(frozen=True, slots=True)
class ServedArguments:
    """Arguments that describe the server of the model, for the report."""

    model_name: str
    flavor: str
    runtime_image: str
    gpus: int
    gpu_product: str
    gpu_hour_prices: Mapping[str, float]
    hour_price: float
    limits: Mapping[str, float]
    real_server: bool


def users_in_words(users: float) -> str:
    """Return a load for readers, as the analysis names it, such as "4 users"."""
    return f"{users:g} user{'' if users == 1 else 's'}"


def marker(
    served: ServedArguments, version: str, lab: Lab | None, position: Mapping[str, str | int] | None = None
) -> dict[str, Any]:
    """Return the document beside the results.

    Args:
        served: The arguments of the command.
        version: The version of the server.
        position: The phase and round of the load, if it has them.
    """
    prices = {"gpu_hour_prices": served.gpu_hour_prices, "hour_price": served.hour_price}
    optional = {"limits": served.limits, **prices, **(position or {})}
    return {
        "schema": "psap.perf/load-test/1",
        "model": served.model_name or None,
        "version": version or None,
        "flavor": served.flavor or None,
        "runtime_image": served.runtime_image or None,
        "gpu_product": served.gpu_product or None,
        "gpus": served.gpus or None,
        **{name: value for name, value in optional.items() if value},
        "lab": lab.serving(is_real=served.real_server).document() if lab else None,
    }
