#!/bin/sh
# installed.sh [PYTHON [WHEEL SBOM]]: build the wheel, unless it is named, and install it in a new environment; write what
# was installed to the file SBOM. Then, with an empty HOME and in an empty
# folder, where this repository is on no path: create a project and run flows on a lab, with and without the driver.
set -eu
python=${1:-python3.11}
repository=$PWD
place=$(mktemp -d)
lab=installed-$$
cache=${XDG_CACHE_HOME:-$HOME/.cache}
cleanup() {
    [ ! -x "$place/env/bin/perflab" ] || in_place perflab down --name "$lab" >/dev/null 2>&1 || :
    rm -rf "$place"
}
# in_place COMMAND…: the cache has the lab's programs, which take minutes to compile
in_place() {
    env -i PATH="$place/env/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" HOME="$place/home" LANG=C.UTF-8 \
        XDG_CACHE_HOME="$cache" XDG_STATE_HOME="$place/home/state" PERF_LAB="$lab" "$@"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
"$python" -m venv "$place/env"
grep -v '^ansible==' requirements/constraints.txt >"$place/constraints.txt"
mkdir "$place/dist"
[ $# -lt 2 ] || cp "$2" "$place/dist"
[ $# -gt 1 ] || "$place/env/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$place/dist" "$repository"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$place/constraints.txt" \
    "$place"/dist/psap_perf-*.whl
[ $# -lt 3 ] || .venv/release/bin/cyclonedx-py environment --output-file "$3" "$place/env/bin/python"
# Galaxy's tarball has the same files
sh tests/scripts/copy_collection.sh "$place/copy"
(cd "$place/copy" && find ansible_collections ! -type d | LC_ALL=C sort) >"$place/tarball"
"$place/env/bin/python" -m zipfile --list "$place"/dist/psap_perf-*.whl |
    awk '/^ansible_collections/ { print $1 }' | LC_ALL=C sort >"$place/wheel"
diff "$place/tarball" "$place/wheel"
mkdir "$place/home"
cd "$place/home"
in_place perfdrv init project
cd project
in_place perfdrv settings check
in_place ansible-playbook psap.perf.skeleton --list-tasks >/dev/null
in_place perflab up --name "$lab" --nodes 2
in_place perfdrv doctor --site lab
in_place perfdrv run skeleton --site lab -p skeleton
in_place ansible-playbook psap.perf.scale_test -i inventories/lab -e @presets/example.yml
in_place perfdrv new flow mine
in_place perfdrv new command own start_pods
in_place perfdrv settings check
in_place perfdrv toolbox own start-pods --site lab --pods 2
in_place perfdrv run mine --site lab -p mine
in_place ansible-playbook playbooks/mine.yml -i inventories/lab -e @presets/mine.yml
in_place perfdrv runs list
# a package that extends this installation, and its tests; its backend and pytest come from the index
in_place perfdrv new package extension ../extension
in_place python -m pip install --quiet --disable-pip-version-check --no-deps ../extension
in_place python -m pip install --quiet --disable-pip-version-check --constraint "$place/constraints.txt" pytest
in_place perfdrv extension
in_place perfdrv toolbox extension count-nodes --site lab --at-least 2
in_place perfdrv run extension --site lab -p extension
in_place ansible-playbook extension.toolbox.extension -i inventories/lab -e perf_presets=extension
in_place perfdrv settings check
(cd ../extension && in_place python -m pytest --quiet tests)
# projects that earlier versions created
for project in "$repository"/tests/data/projects/*; do
    cp -r "$project" "../$(basename "$project")"
    cd "../$(basename "$project")"
    in_place perfdrv new command own start_pods
    in_place perfdrv settings check
    in_place perfdrv doctor --no-cluster
done
mkdir ../empty
cd ../empty
in_place perfdrv demo --name "$lab"
