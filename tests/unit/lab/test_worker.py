"""Addresses, images, configuration and leftovers of a real node, without starting a program."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import io
import itertools
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from functools import partial
from ipaddress import IPv4Network, ip_address
from pathlib import Path
from typing import Any

import pytest
from perflab.building import build
from perflab.building.components import PRODUCTS
from perflab.control_plane import products
from perflab.errors import ClusterError
from perflab.processes.state import Lab, Options
from perflab.profiles import WORKER
from perflab.worker import (
    cgroups,
    deleting,
    egress,
    image_contents,
    images,
    network,
    node,
    requirements,
    runc_rootless,
)
from perflab.worker.configuration import Node
from perflab.worker.images import Image
from perflab.worker.objects import objects

ROUTES = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "one", Options(products=(WORKER,)), ports={"kube-apiserver": 20000, WORKER: 20001})


@pytest.fixture
def image(tmp_path: Path) -> Image:
    program = tmp_path / "program"
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o700)
    return Image(
        "localhost/perflab/tool:1",
        files={"/usr/bin/tool": program},
        texts={"/etc/passwd": "root\n"},
        links={"/bin/tool": "/usr/bin/tool"},
        folders=("/tmp",),
        command=("tool",),
    )


def write_image(image: Image) -> bytes:
    output = io.BytesIO()
    images.write(image, output)
    return output.getvalue()


def test_networks_of_labs_do_not_overlap() -> None:
    blocks = {network.for_port(port).block for port in range(15000, 15200)}
    assert len(blocks) == 64
    assert not any(one.overlaps(other) for one, other in itertools.combinations(blocks, 2))


def test_parts_of_a_network_do_not_overlap() -> None:
    its = network.for_port(20001)
    parts = (its.services, its.pods, its.cable)
    assert all(part.subnet_of(its.block) for part in parts)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(parts, 2))
    # The kubelet runs up to 250 pods.
    assert its.pods.num_addresses > 250
    assert ip_address(its.api_service) in its.services


def test_network_is_taken_by_a_route_into_it() -> None:
    its = network.for_port(20001)
    assert network.present_routes(ROUTES) == [IPv4Network("0.0.0.0/0"), IPv4Network("192.0.2.0/24")]
    assert network.is_free(its, network.present_routes(ROUTES))
    assert not network.is_free(its, [its.pods])


def test_lab_without_a_real_node_has_no_network(tmp_path: Path) -> None:
    assert network.of(Lab(tmp_path, Options())) is None


def test_two_builds_of_an_image_are_equal(image: Image, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.write_bytes(b"#!/bin/sh\n")
    other.chmod(0o755)
    again = dataclasses.replace(image, files={"/usr/bin/tool": other})
    assert write_image(image) == write_image(again)
    assert image.digest() == again.digest()


def test_two_builds_of_the_python_image_are_equal(tmp_path: Path) -> None:
    first, second = (images.ensure(tmp_path / name, image_contents.python()) for name in ("first", "second"))
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_digest_changes_with_contents_and_settings(image: Image) -> None:
    before = image.digest()
    assert dataclasses.replace(image, command=("other",)).digest() != before
    image.files["/usr/bin/tool"].write_bytes(b"#!/bin/false\n")
    assert image.digest() != before


def test_blobs_of_an_image_have_their_digests(image: Image) -> None:
    with tarfile.open(fileobj=io.BytesIO(write_image(image))) as archive:
        contents = {entry.name: read(archive, entry.name) for entry in archive}
    for name, data in contents.items():
        if name.startswith("blobs/sha256/"):
            assert hashlib.sha256(data).hexdigest() == Path(name).name
    (described,) = json.loads(contents["index.json"])["manifests"]
    assert described["annotations"]["io.containerd.image.name"] == image.name
    manifest = json.loads(contents[blob(described)])
    (layer,) = manifest["layers"]
    config = json.loads(contents[blob(manifest["config"])])
    assert config["rootfs"]["diff_ids"] == [layer["digest"]]
    assert config["config"]["Cmd"] == ["tool"]
    with tarfile.open(fileobj=io.BytesIO(contents[blob(layer)])) as files:
        modes = {entry.name: entry.mode for entry in files}
        assert read(files, "usr/bin/tool") == b"#!/bin/sh\n"
    assert modes["usr/bin/tool"] == 0o755
    assert modes["tmp"] == 0o1777
    # Parents precede their contents.
    assert list(modes).index("usr") < list(modes).index("usr/bin") < list(modes).index("usr/bin/tool")


def blob(described: dict[str, Any]) -> str:
    return f"blobs/sha256/{described['digest'].removeprefix('sha256:')}"


def read(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


def test_archive_is_written_once(image: Image, tmp_path: Path) -> None:
    archive = images.ensure(tmp_path, image)
    assert archive.name == f"tool-{image.digest()}.tar"
    stamp = archive.stat().st_mtime_ns
    assert images.ensure(tmp_path, image).stat().st_mtime_ns == stamp
    assert [each.name for each in archive.parent.iterdir()] == [archive.name]


def test_python_image_has_an_interpreter_and_its_libraries() -> None:
    files = image_contents.python().files
    assert any(path.endswith("/libc.so.6") for path in files)
    assert "/usr/bin/tar" in files
    assert any(path.endswith("/os.py") for path in files)
    assert not any("site-packages" in path or path.endswith(".pyc") for path in files)


def test_libraries_are_read_from_the_output_of_ldd() -> None:
    text = """/bin/one:
\tlinux-vdso.so.1 (0x00007ffc)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f)
/bin/two:
\tnot a dynamic executable
"""
    assert image_contents.linked(text) == {
        "libc.so.6": Path("/lib/x86_64-linux-gnu/libc.so.6"),
        "/lib64/ld-linux-x86-64.so.2": Path("/lib64/ld-linux-x86-64.so.2"),
    }


def test_configuration_has_the_addresses_and_programs_of_the_lab(lab: Lab) -> None:
    its = network.for_port(20001)
    real = Node(lab, its, Path("/cache/abc/bin"))
    files = real.files()
    containerd = tomllib.loads(files["containerd.toml"])
    runtime = containerd["plugins"]["io.containerd.cri.v1.runtime"]
    assert runtime["containerd"]["runtimes"]["runc"]["options"]["BinaryName"] == "/cache/abc/bin/runc-plain"
    kubelet = json.loads(files["kubelet.yaml"])
    assert kubelet["address"] == its.node
    assert kubelet["clusterDNS"] == [its.node]
    assert kubelet["cgroupRoot"] == "/perflab-one-20001"
    cable = json.loads(files["cni/10-lab.conflist"])["plugins"][0]
    assert cable["ipam"]["ranges"] == [[{"subnet": str(its.pods)}]]
    assert str(lab.folder / "pki" / "coredns.kubeconfig") in files["Corefile"]
    assert [program.name for program in real.early()] == ["containerd", "kube-proxy", "coredns"]


def test_configuration_without_root_has_no_control_groups(lab: Lab) -> None:
    lab = dataclasses.replace(lab, rootless=True)
    real = Node(lab, network.for_port(20001), Path("/cache/abc/bin"))
    files = real.files()
    kubelet = json.loads(files["kubelet.yaml"])
    assert "cgroupRoot" not in kubelet
    assert (kubelet["cgroupsPerQOS"], kubelet["featureGates"]) == (False, {"KubeletInUserNamespace": True})
    assert str(real.folder / "runc-rootless") in files["containerd.toml"]
    assert files["runc-rootless"].endswith('exec /cache/abc/bin/runc-plain --rootless=true "$@"\n')
    assert real.early()[0].name == "tunnel"


def test_specification_without_root_requests_no_groups() -> None:
    process = {"user": {"uid": 0, "gid": 0, "additionalGids": [0]}, "oomScoreAdj": 1000, "args": ["sh"]}
    mounts = [
        {"type": "devpts", "options": ["nosuid", "gid=5"]},
        {"type": "cgroup", "options": ["ro"]},
        {"type": "bind"},
    ]
    linux = {"cgroupsPath": "/pods", "resources": {"memory": {}}, "namespaces": []}
    container: dict[str, Any] = {"process": process, "mounts": mounts, "linux": linux}
    runc_rootless.adapt(container)
    assert container["process"] == {"user": {"uid": 0, "gid": 0}, "args": ["sh"]}
    assert container["mounts"] == [{"type": "devpts", "options": ["nosuid"]}, {"type": "bind", "options": []}]
    assert container["linux"] == {"namespaces": []}


def test_runc_without_root_reads_the_adapted_specification(tmp_path: Path) -> None:
    runc, process = tmp_path / "runc", tmp_path / "process.json"
    runc.write_text('#!/bin/sh\necho "$@"\n')
    runc.chmod(0o700)
    process.write_text(json.dumps({"user": {"uid": 0, "additionalGids": [0]}}))
    command = [sys.executable, "-IS", runc_rootless.__file__, str(runc), "exec", "--process", str(process), "pod"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"--rootless=true exec --process {process} pod\n"
    assert json.loads(process.read_text()) == {"user": {"uid": 0}}


def test_connection_passes_through_two_sockets(tmp_path: Path) -> None:
    """Connect to a server by the socket of the API server, which itself connects by that of the node."""

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async def run() -> bytes:
        inner, outer = str(tmp_path / "inner"), str(tmp_path / "outer")
        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        through = partial(egress.open_through, inner)
        async with server, await egress.serve(inner, asyncio.open_connection), await egress.serve(outer, through):
            reader, writer = await egress.open_through(outer, "127.0.0.1", port)
            found = await reader.read()
            writer.close()
            server.close()
            with pytest.raises(ConnectionRefusedError, match=f"no connection to 127.0.0.1:{port}"):
                await egress.open_through(outer, "127.0.0.1", port)
        return found

    assert asyncio.run(run()) == b"hello"


def test_configuration_is_written_privately(lab: Lab) -> None:
    lab.folder.mkdir()
    real = Node(lab, network.for_port(20001), Path("/cache/abc/bin"))
    real.write()
    for path in real.folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_api_server_is_reachable_through_its_service() -> None:
    its = network.for_port(20001)
    (slice_, *_others) = objects(its, 6443, "perflab:apiserver")
    assert slice_["endpoints"][0]["addresses"] == [its.host]
    assert slice_["ports"][0]["port"] == 6443


def test_missing_programs_are_named_with_their_packages() -> None:
    assert requirements.missing_programs(lambda program: f"/usr/bin/{program}") == ""
    present = {"mount", "ldd", "ip"}
    sentence = requirements.missing_programs(lambda program: program if program in present else None)
    assert sentence == "a real node needs nft, unshare, setpriv: apt install nftables util-linux"


def test_real_node_is_refused_without_user_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "missing_programs", lambda: "")
    monkeypatch.setattr(
        requirements, "namespaces", lambda *, rootless: ["sh", "-c", f"echo refused {rootless} >&2; exit 1"]
    )
    monkeypatch.setattr(requirements, "_setting", {"user.max_user_namespaces": "0"}.get)
    expected = "`unshare` failed: refused True; set user.max_user_namespaces=10000 (sysctl) or run perflab as root"
    with pytest.raises(ClusterError, match=re.escape(expected)):
        requirements.check()


def test_only_a_node_of_root_has_metrics(lab: Lab) -> None:
    assert "metrics-server" in lab.document()["real"]
    rootless = dataclasses.replace(lab, rootless=True)
    assert "metrics-server" not in rootless.document()["real"]
    assert "limits of pods" in rootless.document()["absent"]
    assert set(products.of(lab)) - set(products.of(rootless)) == {"metrics-server"}


def test_real_node_is_refused_where_it_hides_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(requirements, "missing_programs", lambda: "")
    requirements.check(Path("/home/me/perflab"))
    with pytest.raises(ClusterError, match="cannot have its files in /var/lib/jenkins"):
        requirements.check(Path("/var/lib/jenkins"))


def test_c_compiler_is_looked_for_before_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        build, "find_binaries", lambda _cache, components: None if components == PRODUCTS[WORKER] else 1
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="no C compiler to build worker/runc: apt install gcc"):
        build.ensure_profile(tmp_path, lambda _line: None, "kubernetes", [WORKER])


def test_control_group_is_removed_with_all_below_it(tmp_path: Path) -> None:
    for hierarchy in ("cpu", "memory"):
        (tmp_path / hierarchy).mkdir()
        (tmp_path / hierarchy / "cgroup.procs").touch()
    cgroups.create("perflab-one-1", tmp_path)
    # a kubelet of another user reads every group
    assert (tmp_path / "cpu" / "perflab-one-1").stat().st_mode & 0o777 == 0o755
    (tmp_path / "cpu" / "perflab-one-1" / "kubepods" / "pod1").mkdir(parents=True)
    assert cgroups.remove("perflab-one-1", tmp_path)
    assert not list(tmp_path.glob("*/perflab-*"))
    # A group that never existed, or that another process removed
    assert cgroups.remove("perflab-one-1", tmp_path)


def test_lab_is_set_aside_and_deleted_later(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = []

    def remove(name: str) -> bool:
        removed.append(name)
        return True

    monkeypatch.setattr(cgroups, "remove", remove)
    (lab.folder / "worker").mkdir(parents=True)
    deleting.set_aside(lab.folder, node.cgroup(lab))
    assert not lab.folder.exists()
    deleting.delete_all(tmp_path)
    assert not list(tmp_path.iterdir())
    assert removed == ["perflab-one-20001"]


def test_user_deletes_folders_that_an_image_has_closed(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    closed = lab.folder / "worker" / "closed"
    (closed / "inner").mkdir(parents=True)
    (lab.folder / "link").symlink_to("/")
    closed.chmod(0o500)
    deleting.set_aside(lab.folder, node.cgroup(lab))
    deleting.delete_all(tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_keeps_its_control_group_is_deleted_next_time(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "remove", lambda _name: False)
    lab.folder.mkdir()
    deleting.set_aside(lab.folder, node.cgroup(lab))
    deleting.delete_all(tmp_path)
    assert [each.name.startswith(".deleted-one-") for each in tmp_path.iterdir()] == [True]
