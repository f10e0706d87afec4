"""Prometheus for the lab's control plane: its configuration and start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perflab.building.sets import Binaries
from perflab.files import documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ENDPOINT_PICKER

NAME = "prometheus"
# short compared to the jobs of a lab, which last seconds
SCRAPE_INTERVAL = "2s"
# a scrape may take as long as its interval, and a busy API server takes seconds to write its thousands of metrics
_SECURED_INTERVAL = "5s"
_TLS_FILES = {"ca_file": "ca.crt", "cert_file": "admin.crt", "key_file": "admin.key"}
# names of jobs in OpenShift's monitoring
_JOBS = {
    "apiserver": "kube-apiserver",
    "kube-controller-manager": "kube-controller-manager",
    "scheduler": "kube-scheduler",
}


def url(lab: Lab) -> str:
    """Return the URL of its queries."""
    return f"http://{LOOPBACK}:{lab.ports[NAME]}"


def data_folder(lab: Lab) -> Path:
    """Return the folder of its database."""
    return lab.folder / "data" / NAME


def targets_folder(lab: Lab) -> Path:
    """Return the folder for files `*.json` of further targets, which emulators may write."""
    return lab.folder / NAME


def program(lab: Lab, binaries: Binaries) -> Program:
    """Return Prometheus with the API that copies and empties its database."""
    documents.private_folder(targets_folder(lab))
    configuration = lab.folder / "prometheus.json"
    # JSON is YAML
    documents.write_json(configuration, _configuration(lab))
    command = (
        binaries.program(NAME),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={data_folder(lab)}",
        f"--web.listen-address={LOOPBACK}:{lab.ports[NAME]}",
        "--web.enable-admin-api",
        # otherwise the first scrape comes after 5 s, also for a new target
        "--scrape.discovery-reload-interval=500ms",
        "--log.level=warn",
    )
    return Program(NAME, command, f"{url(lab)}/-/ready")


def _configuration(lab: Lab) -> dict[str, Any]:
    pki = lab.folder / "pki"
    # the administrator's certificate reads the metrics
    tls = {key: str(pki / name) for key, name in _TLS_FILES.items()}
    secured = [
        {
            "job_name": job,
            "scheme": "https",
            "scrape_interval": _SECURED_INTERVAL,
            # a fifth of an idle API server's CPU, and the network is this machine's
            "enable_compression": False,
            "tls_config": tls,
            "static_configs": [_target(lab, name)],
        }
        for job, name in _JOBS.items()
    ]
    return {
        "global": {"scrape_interval": SCRAPE_INTERVAL, "external_labels": {"lab": lab.name}},
        "scrape_configs": [
            *secured,
            {"job_name": "etcd", "static_configs": [_target(lab, "etcd")]},
            # the layer `gateway` of flows has queries for it
            *(
                {"job_name": name, "static_configs": [_target(lab, f"{name}-metrics")]}
                for name in lab.options.products
                if name == ENDPOINT_PICKER
            ),
            {"job_name": "emulated", "file_sd_configs": [{"files": [str(targets_folder(lab) / "*.json")]}]},
        ],
    }


def _target(lab: Lab, name: str) -> dict[str, Any]:
    return {"targets": [f"{LOOPBACK}:{lab.ports[name]}"]}
