"""Envoy itself in a lab with KServe: the gateway for models; an emulator configures its routes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perflab.building.sets import Binaries
from perflab.control_plane.products import endpoint_picker
from perflab.emulators.kubernetes.gateway import picking
from perflab.emulators.kubernetes.gateway.envoy import (
    CLUSTERS_FILE,
    FOLDER,
    ROUTES,
    ROUTES_FILE,
    protocol,
    socket_address,
)
from perflab.files import documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ENDPOINT_PICKER, ENVOY

ADMIN_PORT = f"{ENVOY}-admin"
_EXTENSIONS = "type.googleapis.com/envoy.extensions"
_FIRST_FAILURE = 400


def url(lab: Lab) -> str:
    """Return its URL, which proxies the paths of the routes."""
    return f"http://{LOOPBACK}:{lab.ports[ENVOY]}"


def program(lab: Lab, binaries: Binaries, _kubeconfig: Path) -> Program:
    """Return Envoy, initially without routes."""
    folder = documents.private_folder(lab.folder / FOLDER)
    for name in (CLUSTERS_FILE, ROUTES_FILE):
        documents.write_json(folder / name, {"resources": []})
    documents.write_json(folder / "envoy.json", _configuration(lab, folder))
    command = (
        binaries.program(ENVOY),
        # it does not accept values after an equals sign
        *("--config-path", folder / "envoy.json"),
        # several threads would each choose by their own requests in flight
        *("--concurrency", "1"),
        # it would share memory with the Envoy of another lab
        "--disable-hot-restart",
        *("--log-level", "warning"),
    )
    return Program(ENVOY, command, f"http://{LOOPBACK}:{lab.ports[ADMIN_PORT]}/ready")


def _configuration(lab: Lab, folder: Path) -> dict[str, Any]:
    return {
        "node": {"id": ENVOY, "cluster": lab.name},
        "admin": {
            "address": socket_address(LOOPBACK, lab.ports[ADMIN_PORT]),
            # its other endpoints would end or change it
            "allow_paths": [{"prefix": path} for path in ("/ready", "/clusters", "/config_dump", "/stats")],
        },
        "dynamic_resources": {"cds_config": _file(folder / CLUSTERS_FILE)},
        "static_resources": {
            "listeners": [_listener(lab, folder)],
            "clusters": [_pickers(lab)] if _has_pickers(lab) else [],
        },
    }


def _has_pickers(lab: Lab) -> bool:
    return ENDPOINT_PICKER in lab.options.products


def _pickers(lab: Lab) -> dict[str, Any]:
    """Return the program that runs the endpoint pickers, as a cluster of Envoy."""
    address = socket_address(LOOPBACK, lab.ports[endpoint_picker.GRPC_PORT])
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address}}]}]
    return {
        "name": picking.FILTER,
        "type": "STATIC",
        "typed_extension_protocol_options": protocol("http2_protocol_options"),
        "load_assignment": {"cluster_name": picking.FILTER, "endpoints": endpoints},
    }


def _listener(lab: Lab, folder: Path) -> dict[str, Any]:
    connections = {
        "@type": f"{_EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "gateway",
        "rds": {"route_config_name": ROUTES, "config_source": _file(folder / ROUTES_FILE)},
        "http_filters": [
            *([picking.filter_of_requests()] if _has_pickers(lab) else ()),
            {"name": "router", "typed_config": {"@type": f"{_EXTENSIONS}.filters.http.router.v3.Router"}},
        ],
        "strip_any_host_port": True,
        "normalize_path": True,
        # a model may take long for an answer
        "stream_idle_timeout": "0s",
        "access_log": [_log_of_failures()],
    }
    filters = [{"name": "http", "typed_config": connections}]
    return {
        "name": "gateway",
        "address": socket_address(LOOPBACK, lab.ports[ENVOY]),
        "filter_chains": [{"filters": filters}],
    }


def _log_of_failures() -> dict[str, Any]:
    limit = {"default_value": _FIRST_FAILURE, "runtime_key": "gateway.first_failure"}
    refused = {"status_code_filter": {"comparison": {"op": "GE", "value": limit}}}
    # of any kind: a truncated answer has already begun with status 200
    cut_off: dict[str, Any] = {"response_flag_filter": {}}
    return {
        "name": "failures",
        "filter": {"or_filter": {"filters": [refused, cut_off]}},
        "typed_config": {"@type": f"{_EXTENSIONS}.access_loggers.stream.v3.StdoutAccessLog"},
    }


def _file(path: Path) -> dict[str, Any]:
    """Its configuration, which it reads again whenever another file is moved there."""
    return {"path_config_source": {"path": str(path)}, "resource_api_version": "V3"}
