#!/bin/sh
# transcript.sh DIST: use the release in DIST (make release) as a new user does, and print each command with its output.
# The user has an empty Debian (make build/image-base), a package index on this machine with the wheel, and the archive of
# the lab's programs; nothing of this repository. Needs root.
set -eu
dist=$(cd "$1" && pwd)
base=$PWD/build/image-base
place=$(mktemp -d)
root=$place/root
index=
cleanup() {
    [ -z "$index" ] || kill "$index"
    rm -rf "$place"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
mkdir "$root" "$place/packages"
cp -a "$base/." "$root"
cp "$dist"/psap_perf-*.whl "$place/packages"
cp "$dist"/psap-perf-*-lab-*.tar.gz "$root/root/lab.tar.gz"
# how this machine reaches its package index
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -f "$file" ] || { rm -f "$root$file" && cp --dereference "$file" "$root$file"; }
done
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
.venv/registries/bin/pypi-server run -i 127.0.0.1 -p "$port" --disable-fallback "$place/packages" >/dev/null 2>&1 &
index=$!
cat >"$root/root/user.sh" <<USER
set -eu
cd /root
PS4='\$ '
set -x
python3 -m venv psap-perf
export PATH="/root/psap-perf/bin:\$PATH"
pip install --quiet --disable-pip-version-check --extra-index-url http://127.0.0.1:$port/simple/ 'psap-perf[lab]'
perflab build --from lab.tar.gz
perfdrv demo
perfdrv init my-tests
cd my-tests
perfdrv doctor --no-cluster
perfdrv new flow start_latency
printf 'preset_mine:\n  extends: [scale_test_smoke]\n  scale_test_count: 30\n' >presets/mine.yml
perfdrv settings check
perflab up --nodes 20
perfdrv run start_latency --site lab -p start_latency
ansible-playbook psap.perf.scale_test -i inventories/lab -e @presets/mine.yml
perfdrv report latest
perfdrv runs show latest
ls runs/*/report/index.html
perflab down
USER
# processes of the user end with this shell, and its mounts with the namespace
# shellcheck disable=SC2016 # for the inner shell
unshare --mount --pid --fork --kill-child sh -c '
    mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount --bind /sys "$1/sys"
    exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 chroot "$1" sh /root/user.sh
' sh "$root" 2>&1
