"""A machine of the tests: a real sshd on loopback, and a real podman with images that are built here.

It consists of namespaces on this machine: of mounts, so that it has its own /etc with users and /run, and of processes,
so that all end with its first process. Its network is the loopback of this machine, its kernel is this one.
``python -m tests.standins.hosts.machine up FOLDER`` starts it, ``down FOLDER`` ends it. FOLDER/hosts.yml is an
inventory.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[3]
BOOT_TIMING = PROJECT / "tests/data/boot_timing"
"""Stand-ins for systemd's programs, which need a machine that systemd booted."""
USER, UID = "bench", 20001
PACKAGES = (
    "openssh-server podman catatonit crun iperf3 sysbench busybox-static sudo uidmap slirp4netns netavark aardvark-dns "
    "iptables docker-registry faketime git iputils-ping"
)
PROGRAMS = (
    "git sshd podman catatonit crun iperf3 sysbench busybox sudo newuidmap slirp4netns docker-registry faketime ping"
)
APPLETS = "sh sleep dd true echo cat ls rm mkdir base64 env"
IMAGES = {"hello": (), "tools": ("iperf3", "sysbench"), "registry": ("docker-registry",)}
COMMANDS = {
    "hello": '["/bin/echo", "hello"]',
    "tools": '["/bin/sh"]',
    "registry": '["/usr/bin/docker-registry", "serve", "/etc/docker/registry/config.yml"]',
}
PATIENCE_S = 60.0
# required by a container without systemd and without rights over its cgroups
CONTAINERS = """[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
[network]
network_backend = "netavark"
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run/containers/storage"
"""
POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'
SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/authorized_keys
AllowUsers {user}
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
UseDNS no
Subsystem sftp internal-sftp
SetEnv XDG_RUNTIME_DIR=/run/user/{uid} PATH={folder}/boot_timing:/usr/local/bin:/usr/bin:/bin
"""
# a stand-in for podman 5.4, which Debian does not have: it differs only in its version and copies artifacts
ARTIFACTS = r"""#!/bin/sh
set -e
store=$HOME/.artifacts-stand-in
case "$1 $2" in
"info "*) podman "$@" | sed 's/"Version": "[^"]*"/"Version": "5.4.0-stand-in"/' ;;
"artifact add") mkdir -p "$store" && cp "$4" "$store/$(echo "$3" | tr / _)" ;;
"artifact inspect") echo "{\"Manifest\": {\"layers\": [{\"size\": $(stat -c %s "$store/$(echo "$3" | tr / _)")}]}}" ;;
"artifact rm") rm "$store/$(echo "$3" | tr / _)" ;;
*) exec podman "$@" ;;
esac
"""
# a stand-in for perfdrv in the container of a CI job's step: it only writes its input
STEP = r"""#!/bin/sh
echo "stand-in for perfdrv: $*"
cat /step.yml > "$ARTIFACT_DIR/settings"
env > "$ARTIFACT_DIR/environment"
for secret in "$PERF_SECRETS_DIR"/*; do
    if [ -f "$secret" ]; then ls -l "$secret" > "$ARTIFACT_DIR/secret"; fi
    if [ -f "$secret" ] && [ -n "$STEP_TELLS" ]; then cat "$secret"; fi
done
if [ -n "$STEP_WRITES_MIB" ]; then
    dd if=/dev/urandom of="$ARTIFACT_DIR/large" bs=1048576 count="$STEP_WRITES_MIB" || exit 1
fi
sleep "${STEP_SLEEPS:-0}"
exit "${STEP_ENDS:-0}"
"""
CONTAINERFILE = "FROM localhost/hello:1\nCOPY --chmod=755 perfdrv /bin/perfdrv\n"
# an image is imported once for each owner of a storage; sshd is not the first process, which reaps
START = """set -e
mountpoint -q /sys/fs/cgroup/unified && umount /sys/fs/cgroup/unified
mount --make-rshared /
mount --bind {folder}/run /run
mount --bind {folder}/etc /etc
if [ -e /dev/net/tun ]; then mount --bind {folder}/tun /dev/net/tun; fi
mkdir -p {folder}/small && mount -t tmpfs -o size=128k,mode=1777 none {folder}/small
for image in {images}; do
    podman load --quiet --input {folder}/images/$image.tar
    runuser -u {user} -- env HOME={folder}/home XDG_RUNTIME_DIR=/run/user/{uid} \
        podman load --quiet --input {folder}/images/$image.tar
done > /dev/null
sh {folder}/sshd.sh
touch {folder}/up
while :; do sleep 1; done
"""


def up(folder: Path) -> None:
    """Start the machine, again if it exists; its files are in *folder*."""
    subprocess.run(["sh", str(PROJECT / "tests/scripts/install_debian.sh"), PACKAGES, *PROGRAMS.split()], check=True)
    if (folder / "pid").exists():
        down(folder)
    folder.mkdir(parents=True)
    # the whole folder: a file mounted alone is lost when a package of this machine adds a user
    shutil.copytree("/etc", folder / "etc", symlinks=True)
    for name in ("etc/containers", "run/sshd", "run/lock", f"run/user/{UID}", "home", "work", "images"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _users(folder)
    for name, text in {"containers.conf": CONTAINERS, "storage.conf": STORAGE, "policy.json": POLICY}.items():
        (folder / "etc/containers" / name).write_text(text.replace("{folder}", str(folder)))
    os.mknod(folder / "tun", 0o20666, os.makedev(10, 200))
    (folder / "tun").chmod(0o666)
    port = _free_port()
    keys = {"host_key": "host", "key": "controller"}
    for name, comment in keys.items():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", folder / name], check=True)
    shutil.copy(folder / "key.pub", folder / "authorized_keys")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host_key.pub').read_text()}")
    (folder / "sshd_config").write_text(SSHD.format(port=port, folder=folder, user=USER, uid=UID))
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory(folder, port), sort_keys=False))
    python = folder / "python-ahead"
    python.write_text('#!/bin/sh\nFAKETIME_DONT_FAKE_MONOTONIC=1 exec faketime -f +1h /usr/bin/python3 "$@"\n')
    python.chmod(0o755)
    shutil.copytree(BOOT_TIMING, folder / "boot_timing")
    (folder / "podman-stand-in").write_text(ARTIFACTS)
    (folder / "podman-stand-in").chmod(0o755)
    for image in IMAGES:
        _image(folder, image)
    _repository(folder / "repository")
    (folder / "sshd.sh").write_text(f"$(command -v sshd) -f {folder}/sshd_config -E {folder}/sshd.log\n")
    (folder / "start.sh").write_text(START.format(folder=folder, images=" ".join(IMAGES), user=USER, uid=UID))
    isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", str(folder / "start.sh")]
    # detached, because its starter may end before it does
    background = f'setsid "$@" </dev/null >{folder}/log 2>&1 & echo $! >{folder}/pid'
    subprocess.run(["sh", "-c", background, "sh", *isolated], check=True, env=_environment())
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "up").exists():
        if not _is_alive(int((folder / "pid").read_text())) or time.monotonic() > deadline:
            raise SystemExit(f"the machine does not start: {(folder / 'log').read_text()}")
        time.sleep(0.1)


def down(folder: Path) -> None:
    """Stop the machine and remove its files."""
    pid = int((folder / "pid").read_text())
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_S
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    shutil.rmtree(folder)


def inside(folder: Path, *words: str) -> str:
    """Run a program as the machine's user; return its output."""
    become = ("runuser", "-u", USER, "--", "env", f"HOME={folder}/home", f"XDG_RUNTIME_DIR=/run/user/{UID}")
    return _run_inside(folder, *become, *words)


def resize_small(folder: Path, size: str) -> None:
    """Set the size of the machine's small disk, which has 128 KiB."""
    _run_inside(folder, "mount", "-o", f"remount,size={size}", f"{folder}/small")


def start_sshd(folder: Path) -> None:
    """Start sshd again, after it was stopped."""
    _run_inside(folder, "sh", str(folder / "sshd.sh"))


def stop_sshd(folder: Path) -> None:
    """Stop sshd with its connections, but not the processes that they started."""
    ended = [sshd(folder)]
    for pid in ended:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().startswith("sshd"):
                ended.append(int(child))
    for pid in ended:
        os.kill(pid, signal.SIGKILL)


def sshd(folder: Path) -> int:
    """Return sshd's process ID on this machine, which differs from its ID in the namespace."""
    init = _first(folder)
    own = (folder / "sshd.pid").read_text().strip()
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            same = (status.parent / "ns/pid").readlink() == Path(f"/proc/{init}/ns/pid").readlink()
            if same and fields["NSpid"].split()[-1] == own:
                return int(status.parent.name)
    raise SystemExit("sshd is not running")


def _first(folder: Path) -> int:
    """Return the ID of the machine's first process, the only child of unshare."""
    pid = (folder / "pid").read_text().strip()
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _run_inside(folder: Path, *words: str) -> str:
    command = ["nsenter", "--target", str(_first(folder)), "--mount", "--pid", "--wd=/", "--", *words]
    return subprocess.run(command, env=_environment(), capture_output=True, text=True, check=True).stdout


def inventory(folder: Path, port: int) -> dict[str, object]:
    """Return an inventory for this machine, as a site would write it."""
    machine = {
        "ansible_connection": "ssh",
        "ansible_host": "127.0.0.1",
        "ansible_port": port,
        "ansible_user": USER,
        "ansible_ssh_private_key_file": str(folder / "key"),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={folder / 'known_hosts'} -o ConnectTimeout=5",
        "ansible_host_key_checking": True,
        "ansible_pipelining": True,
        "ansible_python_interpreter": "/usr/bin/python3",
        "machine_work": str(folder / "work"),
        "machine_ports": [_free_port() for _server in range(3)],
    }
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    return {"all": {"hosts": {"localhost": local, "sutest": machine}}}


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}


def _users(folder: Path) -> None:
    """Add a user who may become root."""
    more = {
        "passwd": f"{USER}:x:{UID}:{UID}::{folder}/home:/bin/sh",
        "group": f"{USER}:x:{UID}:",
        "shadow": f"{USER}:*:19000:0:99999:7:::",
        "subuid": f"{USER}:200000:65536",
        "subgid": f"{USER}:200000:65536",
        "sudoers": f"{USER} ALL=(ALL) NOPASSWD: ALL",
    }
    for name, line in more.items():
        with (folder / "etc" / name).open("a") as stream:
            stream.write(f"{line}\n")
    for name in ("home", "work", f"run/user/{UID}"):
        os.chown(folder / name, UID, UID)
        (folder / name).chmod(0o700)


def _repository(folder: Path) -> None:
    """Create the source of the image of CI steps: the branch main, and the merge of pull request 7."""
    folder.mkdir()
    (folder / "perfdrv").write_text(STEP)
    (folder / "Containerfile").write_text(CONTAINERFILE)
    (folder / "Containerfile.slow").write_text(f"{CONTAINERFILE}RUN sleep 600\n")
    who = ("-c", "user.name=tests", "-c", "user.email=tests@example.com")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        (*who, "commit", "--quiet", "--message=Tests"),
        ("update-ref", "refs/pull/7/merge", "HEAD"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    # git refuses repositories of other users
    for path in (folder, *folder.rglob("*")):
        os.chown(path, UID, UID)


def _image(folder: Path, name: str) -> None:
    """Build an image of busybox and Debian's programs with their libraries, as an archive for `podman load`."""
    root = folder / "root" / name
    for part in ("bin", "usr/bin", "tmp", "etc/docker/registry", "var/lib/registry"):
        (root / part).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "busybox", root / "bin/busybox")
    for applet in APPLETS.split():
        (root / "bin" / applet).symlink_to("busybox")
    for program in IMAGES[name]:
        path = shutil.which(program) or program
        shutil.copy(path, root / "usr/bin" / program)
        for library in libraries(path):
            (root / library.parent.relative_to("/")).mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library.relative_to("/"))
    (root / "etc/docker/registry/config.yml").write_text(
        "version: 0.1\nstorage: {filesystem: {rootdirectory: /var/lib/registry}}\nhttp: {addr: ':5000'}\n"
    )
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")
    archive = folder / "root" / f"{name}.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(root, ".")
    storage = ["podman", "--root", str(folder / "making"), "--runroot", str(folder / "making-run")]
    reference = f"localhost/{name}:1"
    imported = [*storage, "import", "--quiet", "--change", f"CMD {COMMANDS[name]}", str(archive), reference]
    saved = [*storage, "save", "--quiet", "--output", str(folder / "images" / f"{name}.tar"), reference]
    for command in (imported, saved):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / "images" / f"{name}.tar").chmod(0o644)


def libraries(program: str | Path) -> list[Path]:
    """Return the libraries that a program is linked with dynamically, including its loader."""
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return [Path(word) for word in output.split() if word.startswith("/")]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_alive(pid: int) -> bool:
    """Return whether a process is alive and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    {"up": up, "down": down, "start_sshd": start_sshd, "stop_sshd": stop_sshd}[sys.argv[1]](
        Path(sys.argv[2]).absolute()
    )
