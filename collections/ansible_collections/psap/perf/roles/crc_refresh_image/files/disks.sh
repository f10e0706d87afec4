# shellcheck shell=bash
# What the scripts have in common: finding a disk, a folder to work in, mounts, and saying why they fail.

fail() {
    echo "$1" >&2
    exit 1
}

# disk VOLUME NAME: the device of a volume of EBS. NVMe has the volume's ID as the serial number, whatever order the
# devices came in; a machine on Xen has no NVMe, and there the device has the NAME.
disk() {
    local found
    found=$(lsblk --nodeps --noheadings --output PATH,SERIAL | awk -v serial="${1/-/}" '$2 == serial { print $1 }')
    if [ -z "$found" ] && [ -b "/dev/$2" ]; then
        found=/dev/$2
    fi
    [ -n "$found" ] || fail "no disk of this machine is the volume $1"
    echo "$found"
}

# mounted DEVICE FOLDER: mount it until the script ends
mounted() {
    mkdir -p "$2"
    mount "$1" "$2"
    mounts+=("$2")
}

# unmounted: unmount all, which writes what is not written yet
unmounted() {
    local each
    for each in "${mounts[@]}"; do
        umount "$each"
    done
    mounts=()
}

leave() {
    unmounted
    rm -rf --one-file-system "$work"
}

mounts=()
work=$(mktemp -d)
trap leave EXIT
