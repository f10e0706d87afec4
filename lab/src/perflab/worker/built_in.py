"""The images that a lab can write itself: a table of names, and what each image is made of."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from perflab.building import llama
from perflab.building.aiperf_packages import ensure_aiperf
from perflab.building.build import ensure_binaries
from perflab.building.component import Component
from perflab.building.components import MINIO, PRODUCTS, PROMETHEUS, S3_SERVER
from perflab.building.llama import ensure_llama_cpp
from perflab.errors import PrintLine, UsageError
from perflab.profiles import WORKER
from perflab.worker import debian, images, project
from perflab.worker.image_contents import TOOLS, folder, pause, python, with_system
from perflab.worker.images import PAUSE, PYTHON, Image
from perflab.worker.load_client import load_test

_PREFIX = "localhost/perflab/"
_NGINX = """\
pid /tmp/nginx.pid;
error_log /dev/stderr warn;
events {}
http {
  include mime.types;
  default_type application/octet-stream;
  access_log /dev/stdout;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  include conf.d/*.conf;
}
"""
_SCRAPE_ITSELF = """\
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: prometheus
    static_configs: [{targets: [localhost:9090]}]
"""


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts of images are from: the cache, which gets those that are missing."""

    cache: Path
    print_line: PrintLine

    def programs(self, components: Sequence[Component]) -> Path:
        """Return the folder of a set of programs, after building it if it is missing."""
        return ensure_binaries(self.cache, self.print_line, components).folder / "bin"

    def packages(self, names: Sequence[str]) -> list[Path]:
        """Return the folders of Debian's packages."""
        return debian.unpacked(self.cache, names, self.print_line)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """An image that the lab writes: its name for pods, its contents in a few words, and how it is made."""

    image: str
    contents: str
    make: Callable[[Parts], Image]


def ensure(cache: Path, name: str, print_line: PrintLine) -> Path:
    """Return the archive of a built-in image in the cache, after writing it if it is missing.

    Raises:
        UsageError: No image has the name.
        ClusterError: A part of the image is missing and cannot be built or downloaded.
    """
    if name not in BUILT_IN:
        raise UsageError(f"{name!r} is neither a file nor an image of the lab; its images are {', '.join(BUILT_IN)}")
    return images.ensure(cache, BUILT_IN[name].make(Parts(cache, print_line)))


def _pause(parts: Parts) -> Image:
    return pause(parts.programs(PRODUCTS[WORKER]) / "pause")


def _busybox(parts: Parts) -> Image:
    static, dynamic = (folder / "bin/busybox" for folder in parts.packages(["busybox-static", "busybox"]))
    commands = subprocess.run([dynamic, "--list"], capture_output=True, text=True, check=True).stdout.split()  # noqa: S603
    # pods copy /bin/busybox to others, which needs no libraries; but its wget crashes when it resolves a name
    links = {f"/bin/{name}": "../usr/bin/busybox" for name in commands if name != "busybox"}
    files = {"/bin/busybox": static, "/usr/bin/busybox": dynamic}
    return with_system(Image(f"{_PREFIX}busybox:1", files=files, links=links, command=("sh",)), tools=())


def _s3_server(parts: Parts) -> Image:
    program = parts.programs(S3_SERVER) / "versitygw"
    image = Image(f"{_PREFIX}versitygw:1", files={"/usr/local/bin/versitygw": program}, command=("versitygw",))
    return with_system(image)


def _minio(parts: Parts) -> Image:
    program = parts.programs(MINIO) / "minio"
    return with_system(Image(f"{_PREFIX}minio:1", files={"/usr/bin/minio": program}, command=("minio",)))


def _mc(parts: Parts) -> Image:
    program = parts.programs(MINIO) / "mc"
    image = Image(f"{_PREFIX}mc:1", files={"/usr/bin/mc": program}, command=("mc",))
    return with_system(image, tools=(*TOOLS, "grep"))


def _prometheus(parts: Parts) -> Image:
    image = Image(
        f"{_PREFIX}prometheus:1",
        files={"/usr/local/bin/prometheus": parts.programs(PROMETHEUS) / "prometheus"},
        texts={"/etc/prometheus/prometheus.yml": _SCRAPE_ITSELF},
        folders=("/prometheus",),
        command=("prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"),
    )
    # a dump is packed by tar and gzip
    return with_system(image, tools=(*TOOLS, "gzip"))


def _llama_cpp(parts: Parts) -> Image:
    program = ensure_llama_cpp(parts.cache, parts.print_line).program("llama-server")
    image = Image(f"{_PREFIX}llama-cpp:1", files={"/usr/local/bin/llama-server": program}, command=("llama-server",))
    return with_system(image)


def _random_26m(parts: Parts) -> Image:
    # KServe mounts /models of an image, by a link that the image's own programs create
    weights = llama.model(ensure_llama_cpp(parts.cache, parts.print_line), llama.RANDOM_26M)
    image = Image(f"{_PREFIX}random-26m:1", files={"/models/model.gguf": weights})
    return with_system(image, tools=(*TOOLS, "ln"))


def _load_client(_parts: Parts) -> Image:
    base = python()
    files = {**base.files, "/load_test.py": Path(load_test.__file__)}
    return dataclasses.replace(base, name=f"{_PREFIX}load-client:1", files=files)


def _aiperf(parts: Parts) -> Image:
    base = python()
    packages = folder(ensure_aiperf(parts.cache, parts.print_line), "/usr/local/lib/aiperf")
    return dataclasses.replace(
        base,
        name=f"{_PREFIX}aiperf:1",
        files={**base.files, **packages},
        texts={**base.texts, "/usr/local/bin/aiperf": '#!/bin/sh\nexec python3 -m aiperf "$@"\n'},
        # a user of any number has a home there
        environment={**base.environment, "PYTHONPATH": "/usr/local/lib/aiperf", "HOME": "/tmp"},  # noqa: S108
        compiled=True,
    )


def _of_packages(image: Image, packages: Sequence[str], paths: Sequence[str], parts: Parts) -> Image:
    """Return the image with those files of Debian's packages that match the patterns *paths*."""
    folders = parts.packages(packages)
    found = [(folder, path) for folder in folders for pattern in paths for path in folder.glob(pattern)]
    links = {f"/{path.relative_to(folder)}": str(path.readlink()) for folder, path in found if path.is_symlink()}
    files = {f"/{path.relative_to(folder)}": path for folder, path in found if not path.is_symlink()}
    return with_system(dataclasses.replace(image, files=files, links=links), debian.library_folders(folders))


def _from_debian(image: Image, packages: Sequence[str], paths: Sequence[str], contents: str) -> BuiltIn:
    return BuiltIn(image.name, contents, partial(_of_packages, image, packages, paths))


# by the names of `perflab image load`
BUILT_IN: Mapping[str, BuiltIn] = {
    "python": BuiltIn(PYTHON, "this machine's Python with its standard library; up loads it", lambda _parts: python()),
    "pause": BuiltIn(PAUSE, "the container that holds a pod's namespaces; up loads it", _pause),
    "busybox": BuiltIn(f"{_PREFIX}busybox:1", "Debian's busybox, static as /bin/busybox, and its commands", _busybox),
    "redis": _from_debian(
        Image(f"{_PREFIX}redis:1", folders=("/data",), command=("redis-server", "--protected-mode", "no")),
        packages=("redis-tools", "redis-server", "libatomic1", "libjemalloc2", "liblzf1"),
        paths=("usr/bin/redis-*",),
        contents="redis-server, redis-cli and redis-benchmark",
    ),
    "nginx": _from_debian(
        Image(
            f"{_PREFIX}nginx:1",
            texts={"/etc/nginx/nginx.conf": _NGINX, "/etc/nginx/conf.d/README": "*.conf: servers\n"},
            folders=("/var/log/nginx", "/var/lib/nginx"),
            command=("nginx", "-g", "daemon off;"),
        ),
        packages=("nginx", "nginx-common", "libpcre2-8-0"),
        paths=("usr/sbin/nginx", "etc/nginx/mime.types"),
        contents="nginx, which needs no root; servers from /etc/nginx/conf.d",
    ),
    "openldap": _from_debian(
        Image(f"{_PREFIX}openldap:1", command=("slapd", "-d", "0")),
        packages=("slapd", "ldap-utils", "libldap-2.5-0", "libltdl7", "libsasl2-2", "libwrap0"),
        paths=("usr/sbin/slap*", "usr/lib/ldap/back_mdb*", "etc/ldap/schema/*", "usr/bin/ldap*"),
        contents="slapd, its tools, schemas and the backend mdb; ldapsearch and others",
    ),
    "llama-cpp": BuiltIn(f"{_PREFIX}llama-cpp:1", "llama-server of llama.cpp, built on first use", _llama_cpp),
    "random-26m": BuiltIn(
        f"{_PREFIX}random-26m:1", "a model of 26 million random weights for llama.cpp, for KServe's oci://", _random_26m
    ),
    "load-client": BuiltIn(
        f"{_PREFIX}load-client:1", "a small load generator with the interface of llm-load-test", _load_client
    ),
    "aiperf": BuiltIn(f"{_PREFIX}aiperf:1", "NVIDIA's aiperf, fetched on first use", _aiperf),
    "versitygw": BuiltIn(f"{_PREFIX}versitygw:1", "an S3 server, built on first use", _s3_server),
    "minio": BuiltIn(f"{_PREFIX}minio:1", "MinIO, an S3 server, built on first use", _minio),
    "mc": BuiltIn(f"{_PREFIX}mc:1", "the client of MinIO, built with it", _mc),
    "prometheus": BuiltIn(f"{_PREFIX}prometheus:1", "Prometheus, built on first use; it scrapes itself", _prometheus),
    "psap-perf": BuiltIn(
        f"{_PREFIX}psap-perf:1",
        "this project with its collections and Ansible: perfdrv, ansible-playbook",
        lambda _parts: project.image(f"{_PREFIX}psap-perf:1"),
    ),
}
