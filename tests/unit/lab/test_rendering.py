"""Certificates, kubeconfigs and command lines, without starting a program."""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from perflab.building.sets import Binaries
from perflab.control_plane import programs, prometheus
from perflab.control_plane.certificates import Authority
from perflab.control_plane.credentials import make_credentials
from perflab.control_plane.programs import Credentials
from perflab.control_plane.tuning import tuning_for
from perflab.files.documents import read_documents
from perflab.processes.ports import free_ports
from perflab.processes.program import Program
from perflab.processes.state import Lab, Options
from perflab.profiles import ENDPOINT_PICKER, KUBERNETES, OFFERED, OPENSHIFT, PROFILES, STANDARD, WORKER, chosen, crds

EVERY = sorted({*chosen(OPENSHIFT, OFFERED)})
BINARIES = Binaries(Path("/cache/abc"))


def make_lab(folder: Path, options: Options) -> tuple[Lab, Credentials]:
    folder.mkdir()
    lab = Lab(folder, options, ports=free_ports(programs.port_names(options)))
    return lab, make_credentials(Authority(folder / "pki"), lab)


@pytest.fixture(scope="module")
def lab_with_credentials(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, Credentials]:
    return make_lab(tmp_path_factory.mktemp("labs") / "one", Options(second_scheduler="two.yaml"))


def all_programs(lab: Lab, files: Credentials) -> list[Program]:
    return [
        programs.etcd(lab, BINARIES),
        programs.apiserver(lab, BINARIES, files),
        programs.controller_manager(lab, BINARIES, files),
        *programs.schedulers(lab, BINARIES, files),
        programs.kwok(lab, BINARIES, files),
        programs.kubelet(lab, "python3"),
        programs.emulators(lab, "python3"),
    ]


def test_every_file_is_private(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    lab, _ = lab_with_credentials
    for path in lab.folder.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_kubeconfig_is_self_contained(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    lab, files = lab_with_credentials
    document = yaml.safe_load(lab.kubeconfig.read_text())
    cluster = document["clusters"][0]["cluster"]
    assert cluster["server"] == f"https://127.0.0.1:{lab.ports['kube-apiserver']}"
    authority = base64.b64decode(cluster["certificate-authority-data"])
    assert authority == files.authority.certificate.read_bytes()


def test_users_match_those_of_the_api_server(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    lab, _ = lab_with_credentials
    subjects = {
        name: x509.load_pem_x509_certificate((lab.folder / "pki" / f"{name}.crt").read_bytes()).subject
        for name in ("admin", "kube-scheduler", "kube-controller-manager")
    }
    assert subjects["admin"].rfc4514_string() == "O=system:masters,CN=perflab:admin"
    assert subjects["kube-scheduler"].rfc4514_string() == "CN=system:kube-scheduler"
    assert subjects["kube-controller-manager"].rfc4514_string() == "CN=system:kube-controller-manager"


def test_key_pairs_match(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    _, files = lab_with_credentials
    tls = ssl.create_default_context(cafile=str(files.authority.certificate))
    tls.load_cert_chain(files.server.certificate, files.server.key)
    tls.load_cert_chain(files.kubelet_client.certificate, files.kubelet_client.key)


def test_every_program_listens_on_loopback(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    for program in all_programs(*lab_with_credentials):
        text = " ".join(map(str, program.command))
        assert "0.0.0.0" not in text
        if program.health:
            assert "//127.0.0.1:" in program.health


def test_each_serving_program_has_its_port(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    lab, _ = lab_with_credentials
    for program in all_programs(*lab_with_credentials):
        assert program.health is None or f":{lab.ports[program.name]}/" in program.health


def test_options_reach_the_command_lines(tmp_path: Path, lab_with_credentials: tuple[Lab, Credentials]) -> None:
    plain = [str(part) for program in all_programs(*lab_with_credentials) for part in program.command]
    lab, files = make_lab(tmp_path / "two", Options(fsync=True, audit=True))
    asked = [str(part) for program in all_programs(lab, files) for part in program.command]
    assert "--unsafe-no-fsync" in plain
    assert "--unsafe-no-fsync" not in asked
    assert f"--audit-log-path={lab.folder / 'audit.log'}" in asked
    assert not [part for part in plain if part.startswith("--audit")]


def test_recorded_program_can_be_restarted(lab_with_credentials: tuple[Lab, Credentials]) -> None:
    for program in all_programs(*lab_with_credentials):
        again = Program.read(program.name, json.loads(json.dumps(program.document())))
        assert again.document() == program.document()
        assert [str(part) for part in again.command] == [str(part) for part in program.command]


def test_api_server_passes_users_on_to_a_metrics_server(
    tmp_path: Path, lab_with_credentials: tuple[Lab, Credentials]
) -> None:
    asked = {}
    lab, files = make_lab(tmp_path / "real", Options(products=(WORKER,)))
    for name, each in (("plain", lab_with_credentials), ("real", (lab, files))):
        flags = [str(part) for part in programs.apiserver(each[0], BINARIES, each[1]).command]
        asked[name] = [flag for flag in flags if flag.startswith(("--proxy-client", "--requestheader"))]
    assert asked["plain"] == []
    assert f"--requestheader-client-ca-file={lab.folder / 'pki' / 'front-proxy' / 'ca.crt'}" in asked["real"]
    # no certificate of the lab's users is one of the API server's
    assert files.front_proxy is not None
    authority, client = (x509.load_pem_x509_certificate(pair.certificate.read_bytes()) for pair in files.front_proxy)
    client.verify_directly_issued_by(authority)
    assert (
        authority.public_key() != x509.load_pem_x509_certificate(files.authority.certificate.read_bytes()).public_key()
    )


def test_prometheus_scrapes_control_plane_and_emulators(tmp_path: Path) -> None:
    lab, _ = make_lab(tmp_path / "scraped", Options(profile=OPENSHIFT, products=("kueue", ENDPOINT_PICKER)))
    program = prometheus.program(lab, BINARIES)
    assert "--web.enable-admin-api" in program.command
    assert program.health == f"http://127.0.0.1:{lab.ports['prometheus']}/-/ready"
    document = json.loads((lab.folder / "prometheus.json").read_text())
    jobs = {job["job_name"]: job for job in document["scrape_configs"]}
    found = {name: job["static_configs"][0]["targets"] for name, job in jobs.items() if "static_configs" in job}
    expected = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", f"{ENDPOINT_PICKER}-metrics")
    assert list(found.values()) == [[f"127.0.0.1:{lab.ports[name]}"] for name in expected]
    assert jobs["emulated"]["file_sd_configs"] == [{"files": [f"{prometheus.targets_folder(lab)}/*.json"]}]
    assert Path(jobs["apiserver"]["tls_config"]["key_file"]).is_file()


def test_lab_has_each_part_of_profile_and_options_once() -> None:
    assert chosen(KUBERNETES, ("runai",)) == (*STANDARD, "runai")
    assert chosen(KUBERNETES, ("runai",), ("kserve",)) == (*STANDARD, "gateway", "leader_worker_sets", "runai")
    assert chosen(OPENSHIFT, ("machines", "runai")) == (*STANDARD, *PROFILES[OPENSHIFT], "runai")


@pytest.mark.parametrize("name", [name for name in EVERY if crds(name).exists()])
def test_emulated_kinds_are_marked(name: str) -> None:
    documents = read_documents(crds(name))
    kinds = [document for document in documents if document["kind"] == "CustomResourceDefinition"]
    assert len({document["metadata"]["name"] for document in documents if document in kinds}) == len(kinds)
    for document in documents:
        assert document["metadata"]["annotations"] == {"lab.psap.perf/emulated": name}
    for kind in kinds:
        assert kind["metadata"]["name"] == f"{kind['spec']['names']['plural']}.{kind['spec']['group']}"


def test_worker_count_follows_the_machine() -> None:
    small, large = tuning_for(2, 8 * 10**9), tuning_for(64, 256 * 10**9)
    assert (small.stage_workers, small.job_workers) == (4, 8)
    assert (large.stage_workers, large.job_workers) == (128, 256)
    assert small.memory_limit_bytes == 1.6 * 10**9


def test_every_stage_is_yaml_with_a_name_and_a_selector() -> None:
    stages = list(yaml.safe_load_all((programs.MANIFESTS / "stages.yaml").read_text()))
    assert [stage["metadata"]["name"] for stage in stages] == [
        "node-initialize",
        "pod-start",
        "pod-image-pull-fails",
        "pod-succeed",
        "pod-fail",
        "pod-evict",
        "pod-terminate",
        "pod-delete",
    ]
    assert all(stage["spec"]["selector"]["matchExpressions"] for stage in stages)
