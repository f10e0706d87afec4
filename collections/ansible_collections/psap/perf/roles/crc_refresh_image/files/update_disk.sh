# shellcheck shell=bash
# update_disk.sh VOLUME SPARE URL SHA256: overwrite the disk with the disk of a bundle of CRC, unpacked on the
# spare disk.
set -euo pipefail
# shellcheck source=disks.sh
. "$(dirname "$0")/disks.sh"

disk=$(disk "$1" xvdf)
spare=$(disk "$2" xvdg)
dnf install --assumeyes --quiet qemu-img xfsprogs zstd
mkfs.xfs -q "$spare"
mounted "$spare" "$work/spare"

bundle=$work/spare/bundle
curl --fail --location --silent --show-error --output "$bundle" --url "$3"
echo "$4  $bundle" | sha256sum --check --quiet || fail "$3 has another SHA-256 than $4"
tar --extract --file "$bundle" --directory "$work/spare" --wildcards '*.qcow2'
mapfile -t images < <(find "$work/spare/" -name '*.qcow2')
[ ${#images[@]} -eq 1 ] || fail "$3 has ${#images[@]} disks of the format qcow2, not one"

# the disk is there: it is written, not created, and refused if it is too small
qemu-img convert -n -O raw "${images[0]}" "$disk"
sync "$disk"
echo "${images[0]##*/} is on $disk"
unmounted
