# shellcheck shell=bash
# refresh_image.sh VOLUME SPARE REPOSITORY BRANCH: put the scripts and units of systemd of a branch of SNC on the disk of
# CRC, in its deployments of ostree. Nothing is enabled or removed.
set -euo pipefail
shopt -s nullglob
# shellcheck source=disks.sh
. "$(dirname "$0")/disks.sh"

# put MODE FOLDER FILE…: copy them there; each has the SELinux type of the folder, or of the file that it replaces
put() {
    local mode=$1 folder=$2 file
    shift 2
    mkdir -p "$folder"
    for file; do
        cp "$file" "$folder/"
        chmod "$mode" "$folder/${file##*/}"
    done
}

disk=$(disk "$1" xvdf)
root=$(lsblk --list --noheadings --output PATH,PARTLABEL "$disk" | awk '$2 == "root" { print $1 }')
[ -n "$root" ] || fail "$disk has no partition named root, as CRC's has"

command -v git >/dev/null || dnf install --assumeyes --quiet git-core
git clone --quiet --depth 1 --branch "$4" -- "$3" "$work/snc"
commit=$(git -C "$work/snc" rev-parse HEAD) units=$work/snc/systemd
[ -d "$units" ] || fail "$3 has no folder systemd at $commit"

mounted "$root" "$work/disk"
deployments=("$work"/disk/ostree/deploy/*/deploy/*/etc/systemd/system)
[ ${#deployments[@]} -gt 0 ] || fail "$root has no deployment of ostree"
for system in "${deployments[@]}"; do
    deployment=${system%/etc/systemd/system}
    # /usr/local is a link to it
    put 0755 "${deployment%/deploy/*}/var/usrlocal/bin" "$units"/*.{sh,py}
    put 0644 "$system" "$units"/*.{service,path,target,timer,socket}
    for folder in "$units"/*.d; do
        put 0644 "$system/${folder##*/}" "$folder"/*.conf
    done
    echo "${deployment##*/} has the units of $commit"
done
unmounted
