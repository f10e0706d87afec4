#!/bin/sh
# copy_collection.sh FOLDER: copy the collection's tracked files into FOLDER/ansible_collections/psap/perf, where Ansible's
# own tools find a collection; they write into it. As in the wheel (hatch_build.py), the copy has the flows, presets and
# inventories of the project.
set -eu
collection=collections/ansible_collections/psap/perf
rm -rf "$1"
mkdir -p "$1/ansible_collections/psap/perf"
copy=$(cd "$1/ansible_collections/psap/perf" && pwd)
# tracked FOLDER NAME…: a tar archive of the tracked files of NAME below FOLDER
tracked() (
    cd "$1"
    shift
    git ls-files -z --cached --others --exclude-standard -- "$@" | tar --null --files-from - --create
)
tracked $collection . | tar -C "$copy" --extract
tracked . ansible.cfg playbooks presets inventories/lab inventories/local | tar -C "$copy" --extract
# a link to the project's folder, which a collection does not have
rm "$copy/playbooks/group_vars"
mkdir "$copy/flows"
for folder in "$copy"/playbooks/*/; do
    mv "${folder%/}" "$copy/flows"
done
tracked . group_vars | tar -C "$copy/playbooks" --extract
