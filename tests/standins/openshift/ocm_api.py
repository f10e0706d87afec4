"""A stand-in for the API of OpenShift Cluster Manager: clusters, their identity providers, and one add-on.

The add-on's installation takes two requests. An identity provider called ``lost`` is added, but its response is lost.

Clusters are ready at the third request after their creation, and gone at the second after their deletion. One called
``refused`` ends with an error; for one called ``lost`` the response to its creation is lost.

``python -m tests.standins.openshift.ocm_api FILE`` serves it on a free port, which it writes into FILE, until the
file is removed; 39 minutes at most. The installation on a cluster called ``broken`` fails. It installs nothing: the
operator must exist.
"""

from __future__ import annotations

import http.server
import json
import sys
import time
import urllib.parse
from pathlib import Path
from typing import Any, ClassVar

from tests.standins.http_servers import Quiet, serve_until_removed, served

OFFLINE_TOKEN = "an-offline-token"
PASSWORD = "the-password-of-kubeadmin"
CSV = "rhods-operator.2.19.1"
_CLUSTERS = {"molecule": "id-1", "broken": "id-2"}
_ADDON = "managed-odh"


class Ocm(Quiet, http.server.BaseHTTPRequestHandler):
    """The requests of a test; a subclass has its own state.

    *kubeconfig* is the kubeconfig of created clusters, by default an empty one; they are not ready while *installing*
    is set, and not gone while *uninstalling* is set.
    """

    kubeconfig: ClassVar[str] = ""
    installing: ClassVar[bool] = False
    uninstalling: ClassVar[bool] = False

    installations: ClassVar[dict[str, dict[str, Any]]]
    created: ClassVar[dict[str, dict[str, Any]]]
    providers: ClassVar[dict[str, dict[str, Any]]]
    expired: ClassVar[set[str]]

    def do_GET(self) -> None:
        """Return clusters, the add-on, or its installations."""
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.removeprefix("/api/clusters_mgmt/v1/").split("/")
        if not self._authorize():
            return
        if parts == ["clusters"]:
            wanted = urllib.parse.parse_qs(url.query)["search"][0].removeprefix("name = ").strip("'")
            known = [{"id": _CLUSTERS[wanted]}] if wanted in _CLUSTERS else []
            self._answer(200, {"items": known or self._cluster_state(wanted)})
        elif parts[2:] == ["credentials"] and parts[1] in self.created:
            admin = {"user": "kubeadmin", "password": PASSWORD}
            kubeconfig = self.kubeconfig or f"{{clusters: [], of: {parts[1]}}}"
            self._answer(200, {"kubeconfig": kubeconfig, "admin": admin})
        elif parts[2:] == ["identity_providers"] and self._is_known(parts[1]):
            of_it = [each for each in self.providers.values() if each["href"].startswith(f"{url.path}/")]
            self._answer(200, {"kind": "IdentityProviderList", "items": of_it, "total": len(of_it)})
        elif parts == ["addons", _ADDON]:
            self._answer(200, {"id": _ADDON, "target_namespace": "redhat-ods-operator"})
        elif parts[2:] == ["addons", _ADDON] and parts[1] in self.installations:
            self._answer(200, self._addon_state(parts[1]))
        else:
            self._answer(404, {"kind": "Error", "reason": f"{url.path} not found"})

    def do_POST(self) -> None:
        """Create a token, or install the add-on."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/token":
            form = urllib.parse.parse_qs(body)
            known = form["refresh_token"] == [OFFLINE_TOKEN] and form["client_id"] == ["cloud-services"]
            token = f"access-{time.monotonic_ns()}"
            self._answer(200 if known else 400, {"access_token": token} if known else {"error": "invalid_grant"})
        elif not self._authorize():
            return
        elif self.path.endswith("/clusters"):
            self._create(json.loads(body))
        elif self.path.endswith("/identity_providers"):
            self._add_provider(json.loads(body))
        else:
            cluster, wanted = self.path.split("/")[-2], json.loads(body)
            if wanted["addon"] != {"id": _ADDON} or wanted["parameters"]["items"][0]["id"] != "notification-email":
                self._answer(400, {"kind": "Error", "reason": f"not understood: {body}"})
                return
            self.installations[cluster] = {"id": _ADDON, "looks": 0, "parameters": wanted["parameters"]}
            self._answer(201, {"id": _ADDON, "state": "pending"})

    def do_PATCH(self) -> None:
        """Change an identity provider."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = self.providers.get(self.path)
        if self._authorize():
            if found is None:
                self._answer(404, {"kind": "Error", "reason": "not found"})
                return
            body["ldap"].pop("bind_password", None)
            found |= body
            self._answer(200, found)

    def do_DELETE(self) -> None:
        """Delete an identity provider, or begin to delete a cluster."""
        if self._authorize():
            if self.providers.pop(self.path, None) is not None:
                self.send_response(204)
                self.end_headers()
                return
            found = self.created.get(self.path.rpartition("/")[2])
            if found is None:
                self._answer(404, {"kind": "Error", "reason": "not found"})
                return
            found |= {"state": "uninstalling", "looks": 0}
            self.send_response(204)
            self.end_headers()

    def _is_known(self, identity: str) -> bool:
        return identity in self.created or identity in _CLUSTERS.values()

    def _add_provider(self, wanted: dict[str, Any]) -> None:
        """Add an identity provider; OCM keeps the password for reading a directory, but does not return it."""
        named = [each for each in self.providers.values() if each["name"] == wanted["name"]]
        if not self._is_known(self.path.split("/")[-2]):
            self._answer(404, {"kind": "Error", "reason": "cluster not found"})
        elif any(each["href"].startswith(f"{self.path}/") for each in named):
            self._answer(400, {"kind": "Error", "reason": f"identity provider {wanted['name']} already exists"})
        elif wanted["type"] != "LDAPIdentityProvider" or not wanted["ldap"].pop("bind_password"):
            self._answer(400, {"kind": "Error", "reason": f"not understood: {sorted(wanted)}"})
        else:
            identity = f"idp-{len(self.providers)}"
            made = {"kind": "IdentityProvider", "id": identity, "href": f"{self.path}/{identity}", **wanted}
            self.providers[made["href"]] = made
            if wanted["name"] == "lost":
                self.close_connection = True
                return
            self._answer(201, made)

    def _create(self, wanted: dict[str, Any]) -> None:
        name = wanted["name"]
        if wanted["product"] != {"id": "osd"} or not wanted["aws"]["secret_access_key"]:
            self._answer(400, {"kind": "Error", "reason": f"not understood: {sorted(wanted)}"})
            return
        nodes, multi_az = wanted["nodes"]["compute"], wanted["multi_az"]
        if nodes < (3 if multi_az else 2) or (multi_az and nodes % 3):
            self._answer(400, {"kind": "Error", "reason": f"{nodes} compute nodes, multi_az {multi_az}: not possible"})
            return
        del wanted["aws"]["secret_access_key"]
        identity = f"id-of-{name}"
        self.created[identity] = {**wanted, "id": identity, "state": "pending", "looks": 0}
        if name == "lost":
            self.close_connection = True
            return
        self._answer(201, self.created[identity])

    def _cluster_state(self, name: str) -> list[dict[str, Any]]:
        """Return a created cluster in its state at this request."""
        found = self.created.get(f"id-of-{name}")
        if found is None:
            return []
        found["looks"] += 1
        if found["state"] == "uninstalling" and found["looks"] > 1 and not self.uninstalling:
            del self.created[found["id"]]
            return []
        if found["state"] in ("pending", "installing") and name == "refused":
            found |= {"state": "error", "status": {"provision_error_message": "the account has no quota for addresses"}}
        elif found["state"] == "pending":
            found["state"] = "installing"
        elif found["state"] == "installing" and found["looks"] > 2 and not self.installing:
            urls = {"api": {"url": f"https://api.{name}.invalid:6443"}, "console": {"url": f"https://{name}.invalid"}}
            found |= {"state": "ready", **urls}
        return [found]

    def _addon_state(self, cluster: str) -> dict[str, Any]:
        found = self.installations[cluster]
        found["looks"] += 1
        if found["looks"] <= 2:
            return {**found, "state": "installing"}
        if cluster == _CLUSTERS["broken"]:
            return {**found, "state": "failed", "state_description": "no quota for managed-odh"}
        return {**found, "state": "ready", "csv_name": CSV}

    def _authorize(self) -> bool:
        """Check the token; each is valid for one request, so that a test covers the replacement of expired ones."""
        token = self.headers.get("Authorization", "")
        if token.startswith("Bearer access-") and token not in self.expired:
            self.expired.add(token)
            return True
        self._answer(401, {"kind": "Error", "reason": "the token has expired"})
        return False

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def ocm() -> type[Ocm]:
    """Return a handler without installations."""
    return type("Fresh", (Ocm,), {"installations": {}, "created": {}, "providers": {}, "expired": set()})


def main(place: Path) -> None:
    """Serve until *place*, where the address is written, is removed."""
    with served(ocm()) as url:
        serve_until_removed(url, place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
