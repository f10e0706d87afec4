"""Gives each Route a host and says that the router admitted it."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, now_s
from perflab.emulators.framework.resources import ROUTES
from perflab.emulators.framework.store import Key

APPS_DOMAIN = "apps.lab.invalid"

_ROUTER = "default"


class Routes:
    """The router `default`, without what it would serve."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's Routes."""
        self._cluster = cluster
        self._routes = cluster.store(ROUTES)
        self.controller = Controller("route", self._reconcile)
        self.controller.follow(self._routes)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        route = self._routes.get(key)
        if route is None or is_leaving(route):
            return None
        if not route["spec"].get("host"):
            await self._routes.patch(key, {"spec": {"host": _host(key)}})
            return None
        failure = self._cluster.steps.failure("route", route)
        wait_s = self._cluster.steps.wait_s("route", route)
        if wait_s > 0 or _is_recorded(route, failure):
            return wait_s or None
        await self._routes.patch_status(key, {"ingress": [_ingress(route["spec"]["host"], failure)]})
        return None


def _host(key: Key) -> str:
    return f"{key[1]}-{key[0]}.{APPS_DOMAIN}"


def _ingress(host: str, failure: str | None) -> Document:
    condition = {"type": "Admitted", "status": "True", "lastTransitionTime": now_s()}
    if failure:
        condition |= {"status": "False", "reason": "RouteNotAdmitted", "message": failure}
    return {
        "host": host,
        "routerName": _ROUTER,
        "routerCanonicalHostname": f"router-{_ROUTER}.{APPS_DOMAIN}",
        "wildcardPolicy": "None",
        "conditions": [condition],
    }


def _is_recorded(route: Document, failure: str | None) -> bool:
    ingress = next(iter((route.get("status") or {}).get("ingress") or ()), None)
    if ingress is None or ingress["host"] != route["spec"]["host"]:
        return False
    condition: Document = ingress["conditions"][0]
    return condition.get("message") == failure
