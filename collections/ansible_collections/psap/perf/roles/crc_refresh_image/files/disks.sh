# shellcheck shell=bash
# Shared functions of the scripts: disks, the working folder, mounts and errors.

fail() {
    echo "$1" >&2
    exit 1
}

# disk VOLUME NAME: print the device of a volume of EBS. An NVMe device has the volume's ID as its serial number; a
# machine on Xen has no NVMe, and its device is called NAME.
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
