"""Archives of the database, from a snapshot or from a pod; for a pod, only the requests are tested here."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    DataQualityError,
    Interrupted,
    PerfError,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed, run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address, Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.dumping import (
    Contents,
    contents_of,
    dump_pod,
    dump_snapshot,
)

from .server import Asked, serving
from .websocket import STDERR, STDOUT, SUCCESS, executing, failure

BLOCK = "01KA2B3C4D5E6F7G8H9JKMNPQR"
WHERE = ("openshift-monitoring", "prometheus-k8s-0", "prometheus")
TAR = ["tar", "czf", "-", "-C", "/", "prometheus"]


def _never_stop() -> None:
    return None


def _archive_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


DATABASE = _archive_of({f"prometheus/{BLOCK}/chunks/000001": b"12345", "prometheus/wal/00000000": b"123"})


def _access(folder: Path, url: str) -> Access:
    """Write a kubeconfig with a token, as ``oc login`` does."""
    path = folder / "kubeconfig"
    entries = {
        "clusters": [{"name": "x", "cluster": {"server": url}}],
        "users": [{"name": "x", "user": {"token": "t0ken"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }
    path.write_text(yaml.safe_dump({"current-context": "x", **entries}), encoding="utf-8")
    return Access(kubeconfig=str(path))


def test_program_of_a_pod_is_requested_by_the_exec_api(tmp_path: Path) -> None:
    output = io.BytesIO()
    with executing([STDOUT + b"one ", STDERR + b"a word", STDOUT + b"two", SUCCESS]) as fake:
        done = run_in_pod(_access(tmp_path, fake.url), WHERE, TAR, output, _never_stop)
    assert (done, output.getvalue()) == (Executed(0, "a word"), b"one two")
    ((path, headers),) = fake.asked
    assert urlsplit(path).path == "/api/v1/namespaces/openshift-monitoring/pods/prometheus-k8s-0/exec"
    assert parse_qs(urlsplit(path).query) == {
        "container": ["prometheus"],
        "stdout": ["true"],
        "stderr": ["true"],
        "command": TAR,
    }
    assert headers["authorization"] == "Bearer t0ken"
    assert headers["sec-websocket-protocol"] == "v4.channel.k8s.io"


def test_failing_program_reports_its_exit_code(tmp_path: Path) -> None:
    with executing([STDERR + b"no such file", failure(2)]) as fake:
        done = run_in_pod(_access(tmp_path, fake.url), WHERE, TAR, io.BytesIO(), _never_stop)
    assert done == Executed(2, "no such file")


def test_pod_without_exec_access_is_reported(tmp_path: Path) -> None:
    message = (
        r'cannot run tar in pod openshift-monitoring/prometheus-k8s-0 \(.*\): pods "prometheus-k8s-0" is forbidden'
    )
    with executing([], status=403) as fake, pytest.raises(ClusterError, match=message):
        run_in_pod(_access(tmp_path, fake.url), WHERE, TAR, io.BytesIO(), _never_stop)


def test_connection_lost_before_the_program_ends_is_reported(tmp_path: Path) -> None:
    with executing([STDOUT + b"half"]) as fake, pytest.raises(ClusterError, match="was cut off"):
        run_in_pod(_access(tmp_path, fake.url), WHERE, TAR, io.BytesIO(), _never_stop)


def test_program_can_be_interrupted(tmp_path: Path) -> None:
    def stop() -> None:
        raise Interrupted("the run was asked to stop")

    with executing([SUCCESS]) as fake, pytest.raises(Interrupted):
        run_in_pod(_access(tmp_path, fake.url), WHERE, TAR, io.BytesIO(), stop)


class _Pod:
    """A pod whose tar prints `output` and exits with `code`; `argv` records the request."""

    def __init__(self, output: bytes, code: int = 0, errors: str = "") -> None:
        self._output, self._code, self._errors = output, code, errors
        self.argv: list[str] = []

    def __call__(self, argv: list[str], stream: Any) -> Executed:
        self.argv = argv
        stream.write(self._output)
        return Executed(self._code, self._errors)


def test_pod_folder_is_archived_there_and_read_completely(tmp_path: Path) -> None:
    pod, archive = _Pod(DATABASE, 1, "tar: file changed as we read it"), tmp_path / "prometheus.tar.gz"
    contents, warning = dump_pod(pod, "/prometheus", archive)
    assert pod.argv == TAR
    assert contents == Contents(files=2, size_bytes=8, blocks=1, log=True)
    assert warning == "tar: file changed as we read it"


def test_nested_folder_is_archived_by_its_base_name(tmp_path: Path) -> None:
    pod = _Pod(DATABASE)
    dump_pod(pod, "/prometheus/data", tmp_path / "x.tar.gz")
    assert pod.argv == ["tar", "czf", "-", "-C", "/prometheus", "data"]


@pytest.mark.parametrize(
    ("pod", "kind", "message"),
    [
        (_Pod(b"", 127, "tar: not found"), PerfError, "failed with exit code 127: tar: not found"),
        (_Pod(DATABASE[: len(DATABASE) // 2]), DataQualityError, "cannot be read to its end"),
        (_Pod(gzip.compress(b"no tar" * 200)), DataQualityError, "cannot be read to its end"),
        (_Pod(_archive_of({"prometheus/readme": b"x"})), DataQualityError, "is not a database of Prometheus"),
    ],
)
def test_incomplete_database_is_not_kept(tmp_path: Path, pod: _Pod, kind: type[Exception], message: str) -> None:
    archive = tmp_path / "prometheus.tar.gz"
    with pytest.raises(kind, match=message):
        dump_pod(pod, "/prometheus", archive)
    assert not archive.exists()


def _snapshots(path: str, asked: Asked) -> tuple[int, Any]:
    assert path == "/api/v1/admin/tsdb/snapshot"
    return 200, {"status": "success", "data": {"name": "20260101"}}


def test_snapshot_is_archived_and_removed(tmp_path: Path) -> None:
    snapshot = tmp_path / "data/snapshots/20260101"
    (snapshot / BLOCK).mkdir(parents=True)
    (snapshot / BLOCK / "meta.json").write_text("{}")
    archive = tmp_path / "prometheus.tar.gz"
    with serving(_snapshots) as fake, Prometheus(Address(fake.url, "x", data=tmp_path / "data")) as prometheus:
        assert dump_snapshot(prometheus, archive) == Contents(files=1, size_bytes=2, blocks=1, log=False)
    assert not snapshot.exists()
    with tarfile.open(archive) as packed:
        assert "prometheus/01KA2B3C4D5E6F7G8H9JKMNPQR/meta.json" in packed.getnames()


def test_archive_gets_its_name_when_complete(tmp_path: Path) -> None:
    archive, seen = tmp_path / "prometheus.tar.gz", list[str]()

    def run(_argv: list[str], output: BinaryIO) -> Executed:
        output.write(DATABASE)
        seen.extend(path.name for path in tmp_path.iterdir())
        return Executed(0, "")

    dump_pod(run, "/prometheus", archive)
    assert len(seen) == 1
    assert re.fullmatch(r"\.prometheus\.tar\.gz\.\w+\.partial", seen[0])
    assert [path.name for path in tmp_path.iterdir()] == ["prometheus.tar.gz"]


def test_snapshot_on_another_machine_is_reported(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    with serving(_snapshots) as fake:
        with (
            Prometheus(Address(fake.url, "x", data=tmp_path)) as prometheus,
            pytest.raises(ClusterError, match="is not on this machine; use exec"),
        ):
            dump_snapshot(prometheus, archive)
        with (
            Prometheus(Address(fake.url, "x")) as prometheus,
            pytest.raises(ClusterError, match="folder of its database is unknown here"),
        ):
            dump_snapshot(prometheus, archive)
    assert not archive.exists()


def test_missing_archive_is_reported() -> None:
    with pytest.raises(DataQualityError, match="cannot be read to its end"):
        contents_of(Path("/nowhere/x.tar.gz"))
