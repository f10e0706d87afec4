"""Makes the server of each pod listen at its own address, as on a cluster."""

from __future__ import annotations

import logging

from aiohttp import web

from perflab.cluster.api import Document
from perflab.cluster.model_pods import address_of
from perflab.emulators.framework.store import key_of
from perflab.serving.pods import model_in, service_of
from perflab.serving.servers import Servers

_log = logging.getLogger(__name__)


class Pods:
    """The pods that serve models: each listens on the loopback address that represents its own."""

    def __init__(self, servers: Servers, runner: web.AppRunner, port: int) -> None:
        """All listen on *port*."""
        self._servers = servers
        self._runner = runner
        self._port = port
        self._sites: dict[str, tuple[str, web.TCPSite]] = {}

    async def changed(self, old: Document | None, new: Document | None) -> None:
        """Handle the change of a pod to *new*; None: it was deleted."""
        pod = new or old
        if pod is None:
            return
        name, model, address = "/".join(key_of(pod)), model_in(new), address_of(pod)
        present, site = self._sites.get(name, ("", None))
        if site is not None and (model is None or present != address):
            del self._sites[name]
            await site.stop()
        self._servers.set(name, service_of(pod), model, address)
        if model is not None and address and name not in self._sites:
            site = web.TCPSite(self._runner, address, self._port)
            try:
                await site.start()
            except OSError as error:
                _log.error("pod %s cannot listen at %s:%d: %s", name, address, self._port, error)
            else:
                self._sites[name] = address, site
