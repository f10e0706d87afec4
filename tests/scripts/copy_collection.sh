#!/bin/sh
# copy_collection.sh FOLDER: copy the collection's tracked files into FOLDER/ansible_collections/psap/perf, where Ansible's
# own tools find a collection; they write into it.
set -eu
collection=collections/ansible_collections/psap/perf
rm -rf "$1"
mkdir -p "$1/ansible_collections/psap/perf"
copy=$(cd "$1/ansible_collections/psap/perf" && pwd)
git -C $collection ls-files -z --cached --others --exclude-standard |
    tar -C $collection --null --files-from - --create | tar -C "$copy" --extract
