"""A stand-in for openshift-install: it creates nothing, and logs so in every run. For tests only.

It follows the program's documentation: the steps, the files that each reads, removes and writes, the lines of its log
on standard error, and its exit codes. It refuses the install-configs that the program refuses before any request to AWS
(``install_config_rules.py``). Its cloud is a folder, with a file for each part of a cluster.

``STAND_IN_CLOUD`` names that folder. ``STAND_IN_FAILS`` is ``STEP=CODE``, a step that fails with that exit code;
``STAND_IN_STOPS`` is a step that hangs. Both leave a cluster half created. ``STAND_IN_KUBECONFIG`` is the kubeconfig of
an existing cluster, which a created one then has. ``STAND_IN_FIPS`` makes it the FIPS-capable
program on a host in FIPS mode.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import yaml

from tests.standins.openshift.install_config_rules import refusals

VERSION, ARCHITECTURE = "4.18.3", "amd64"
# the program prints the path with which it was started
PROGRAM = "/opt/openshift tools/openshift-install"
PASSWORD = "abcde-FGHIJ-klmno-PQRST"
PRIVATE = "the-key-of-the-bootstrap-machine"
THINGS = ("vpc", "bootstrap", "master-0", "load-balancer", "zone", "worker-0")
_STATE = ".openshift_install_state.json"


def log(level: str, message: str) -> None:
    """Write a line of the log, as without a terminal."""
    sys.stderr.write(f"level={level} msg={json.dumps(message)}\n")
    sys.stderr.flush()


def cloud() -> Path:
    """Return the folder of the cloud."""
    return Path(os.environ["STAND_IN_CLOUD"])


class StandIn:
    """One run, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def manifests(self) -> None:
        """Remove the install-config, and write manifests and a state with the infrastructure ID."""
        source = self.folder / "install-config.yaml"
        if not source.exists():
            raise SystemExit(fail("failed to fetch Manifests: open install-config.yaml: no such file", 1))
        config = yaml.safe_load(source.read_text(encoding="utf-8"))
        refused = refusals(config, fips_host=bool(os.environ.get("STAND_IN_FIPS")), payload=ARCHITECTURE)
        if refused:
            what = refused[0] if len(refused) == 1 else f"[{', '.join(refused)}]"
            raise SystemExit(fail(f'failed to create install config: invalid "install-config.yaml" file: {what}', 3))
        log("info", "Consuming Install Config from target directory")
        name = config["metadata"]["name"]
        infra = f"{name[:21].rstrip('-')}-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:5]}"
        state = {"name": name, "infraID": infra, "region": config["platform"]["aws"]["region"], "config": config}
        (self.folder / _STATE).write_text(json.dumps(state), encoding="utf-8")
        value = {"instanceType": "m6i.xlarge", "placement": {"region": state["region"]}}
        machines = {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "MachineSet",
            "metadata": {"name": f"{infra}-worker-a", "namespace": "openshift-machine-api"},
            "spec": {"replicas": 1, "template": {"spec": {"providerSpec": {"value": value}}}},
        }
        self._write("openshift/99_openshift-cluster-api_worker-machineset-0.yaml", yaml.safe_dump(machines))
        self._write("manifests/cluster-config.yaml", yaml.safe_dump({"kind": "ConfigMap", "data": {}}))
        source.unlink()
        log("info", f"Manifests created in: {self.folder}/manifests and {self.folder}/openshift")

    def ignition(self) -> None:
        """Remove the manifests; write what destroys the cluster before anything is created."""
        state = self._state()
        spots = [
            path.name
            for path in self.folder.glob("openshift/*.yaml")
            if "spotMarketOptions" in path.read_text(encoding="utf-8")
        ]
        (self.folder / _STATE).write_text(json.dumps({**state, "spots": spots}), encoding="utf-8")
        for name in ("manifests", "openshift"):
            log("info", f"Consuming {name} from target directory")
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("bootstrap.ign", "master.ign", "worker.ign"):
            self._write(name, json.dumps({"ignition": {"version": "3.2.0"}, "secret": state["config"]["pullSecret"]}))
        infra, region = state["infraID"], state["region"]
        aws = {"region": region, "identifier": [{f"kubernetes.io/cluster/{infra}": "owned"}]}
        document = {"clusterName": state["name"], "clusterID": "0b1c", "infraID": infra, "aws": aws}
        self._write("metadata.json", json.dumps(document))
        self._auth(state)
        log("info", f"Ignition-Configs created in: {self.folder} and {self.folder}/auth")

    def cluster(self) -> None:
        """Create a cluster's parts, and wait for it."""
        state = self._state()
        log("info", 'Credentials loaded from the "default" profile in file "credentials"')
        log("info", "Creating infrastructure resources...")
        for thing in THINGS[: len(THINGS) // 2]:
            self._write_thing(state["infraID"], thing)
        stop_or_fail("create cluster", "timed out waiting for the condition")
        for thing in THINGS[len(THINGS) // 2 :]:
            self._write_thing(state["infraID"], thing)
        api = f"https://api.{state['name']}.{state['config']['baseDomain']}:6443"
        log("info", f"Waiting up to 20m0s (until 9:58AM UTC) for the Kubernetes API at {api}...")
        log("info", "API v1.31.6 up")
        log("info", "Waiting up to 45m0s (until 10:25AM UTC) for bootstrapping to complete...")
        log("info", "Destroying the bootstrap resources...")
        (cloud() / state["infraID"] / "bootstrap").unlink()
        log("info", f"Waiting up to 40m0s (until 10:31AM UTC) for the cluster at {api} to initialize...")
        log("info", "Install complete!")
        console = f"https://console-openshift-console.apps.{state['name']}.{state['config']['baseDomain']}"
        log("info", f"Access the OpenShift web-console here: {console}")
        log("info", f'Login to the console with user: "kubeadmin", and password: "{PASSWORD}"')

    def gather(self) -> None:
        """Write a bundle of logs, with a key in it like real ones."""
        log("info", "Pulling debug logs from the bootstrap machine")
        pull_secret = self._state()["config"]["pullSecret"]
        with tarfile.open(self.folder / "log-bundle-20261125080000.tar.gz", "w:gz") as archive:
            for name, text in (
                ("log-bundle/bootstrap/journals/bootkube.log", f"pulled with {pull_secret}: etcd did not start\n"),
                ("log-bundle/failed-units.txt", "kubelet.service\n"),
                ("log-bundle/rendered-assets/admin.key", PRIVATE),
            ):
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
        log("info", "Bootstrap gather logs captured here log-bundle-20261125080000.tar.gz")

    def destroy(self) -> None:
        """Destroy everything that the metadata lists; missing parts are no error."""
        path = self.folder / "metadata.json"
        if not path.exists():
            raise SystemExit(fail(f"Failed while preparing to destroy cluster: open {path}: no such file", 1))
        metadata = json.loads(path.read_text(encoding="utf-8"))
        (identifier,) = metadata["aws"]["identifier"]
        infra = next(iter(identifier)).removeprefix("kubernetes.io/cluster/")
        stop_or_fail("destroy cluster", "UnauthorizedOperation: you are not authorized")
        for thing in sorted((cloud() / infra).glob("*")):
            log("info", f"Deleted {thing.name}")
            thing.unlink()
        shutil.rmtree(cloud() / infra, ignore_errors=True)
        path.unlink()
        log("info", "Uninstallation complete!")

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / _STATE).read_text(encoding="utf-8"))
        return found

    def _auth(self, state: dict[str, Any]) -> None:
        api = f"https://api.{state['name']}.{state['config']['baseDomain']}:6443"
        cluster = {"name": state["name"], "cluster": {"server": api}}
        context = {"name": "admin", "context": {"cluster": state["name"], "user": "admin"}}
        document: dict[str, Any] = {"clusters": [cluster], "users": [{"name": "admin", "user": {"token": "none"}}]}
        document |= {"apiVersion": "v1", "kind": "Config", "contexts": [context], "current-context": "admin"}
        given = os.environ.get("STAND_IN_KUBECONFIG")
        self._write("auth/kubeconfig", Path(given).read_text(encoding="utf-8") if given else yaml.safe_dump(document))
        self._write("auth/kubeadmin-password", PASSWORD)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    @staticmethod
    def _write_thing(infra: str, thing: str) -> None:
        (cloud() / infra).mkdir(parents=True, exist_ok=True)
        (cloud() / infra / thing).write_text("", encoding="utf-8")


def fail(message: str, code: int) -> int:
    """Log a fatal error; return the exit code."""
    log("fatal" if code == 1 else "error", message)
    return code


def stop_or_fail(step: str, why: str) -> None:
    """Hang or fail if the test's environment selects this step."""
    if os.environ.get("STAND_IN_STOPS") == step:
        log("info", "This will never end")
        while True:
            time.sleep(60)
    failing, _equals, code = os.environ.get("STAND_IN_FAILS", "").partition("=")
    if failing == step:
        raise SystemExit(fail(why, int(code)))


def main() -> None:
    """Run one of the steps that are implemented."""
    if sys.argv[1:] == ["version"]:
        print(
            f"{PROGRAM} {VERSION}\nbuilt from commit 0123abcd\nrelease image none\nrelease architecture {ARCHITECTURE}"
        )
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("verb")
    parser.add_argument("target")
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--log-level", default="info")
    given = parser.parse_args()
    step, program = f"{given.verb} {given.target}", StandIn(given.dir)
    log("info", "This is a stand-in for openshift-install; it creates nothing")
    if step not in ("create cluster", "destroy cluster"):
        stop_or_fail(step, "something is wrong")
    {
        "create manifests": program.manifests,
        "create ignition-configs": program.ignition,
        "create cluster": program.cluster,
        "gather bootstrap": program.gather,
        "destroy cluster": program.destroy,
    }[step]()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(8) from None
