#!/bin/sh
# release.sh VERSION: build what a release publishes into dist/VERSION, install each part in an empty place, and tag the
# commit. Nothing is published: docs/releasing.md. The tools, which the project does not need, stay in .venv/release.
set -eu
version=${1:-}
case $version in
*[!0-9.]* | '' | .* | *.) echo "release.sh: cannot use the version '$version': pass VERSION=x.y.z" >&2 && exit 2 ;;
esac
[ -z "$(git status --porcelain)" ] || {
    echo "release.sh: the work tree has changes: commit them, or remove them" >&2
    exit 2
}
# a tagged commit is only built and verified again
tagged=$(git tag --points-at HEAD --list "v$version")
[ -n "$tagged" ] || [ -z "$(git tag --list "v$version")" ] || {
    echo "release.sh: the tag v$version is that of another commit: pass another VERSION, or check that commit out" >&2
    exit 2
}
project=$PWD tools=$PWD/.venv/release dist=$PWD/dist/$version collection=collections/ansible_collections/psap/perf
[ -x "$tools/bin/cyclonedx-py" ] || {
    python -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=7' 'hatchling>=1.27'
}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
rm -rf "$dist"
mkdir -p "$dist"

echo "== version $version"
sed -i "s/^version = .*/version = \"$version\"/" pyproject.toml
sed -i "s/^version: .*/version: $version/" $collection/galaxy.yml

echo "== wheel and sdist"
"$tools/bin/python" -m hatchling build --directory "$dist"

echo "== collection"
sh tests/scripts/copy_collection.sh "$place/copy"
python -m docs.website.commands "$place/copy/ansible_collections/psap/perf/roles"
(cd "$place/copy/ansible_collections/psap/perf" && antsibull-changelog release --update-existing --version "$version")
ansible-galaxy collection build --output-path "$dist" "$place/copy/ansible_collections/psap/perf"
(
    cd "$place/copy/ansible_collections/psap/perf"
    antsibull-changelog generate --only-latest --output-format md --output "$dist/psap-perf-$version-notes.md" "$version"
)

echo "== context of the image"
rm -f dist/psap_perf-*.whl
cp "$dist"/psap_perf-*.whl dist
sh tests/scripts/builder.sh ansible-builder create --file execution-environment.yml --context "$place/image" \
    --output-filename Containerfile
tar -C "$place/image" -czf "$dist/psap-perf-$version-image.tar.gz" .

echo "== programs of the lab"
archive=$dist/psap-perf-$version-lab-$(uname -m).tar.gz
programs=${RELEASE_PROGRAMS:---profile openshift --with kueue --with ray --with kserve --with worker}
# the installed wheel states the version of the release; this environment has that of the last installation
python -m pip install --quiet --disable-pip-version-check --no-deps --target "$place/wheel" "$dist"/psap_perf-*.whl
# shellcheck disable=SC2086 # words
PYTHONPATH=$place/wheel python -m perflab build $programs --pack "$archive"
# everything is in the archive: nothing can be fetched or built
# shellcheck disable=SC2086
XDG_CACHE_HOME=$place/cache GOMODCACHE=$place/modules GOPROXY=off PIP_NO_INDEX=1 PYTHONPATH=$place/wheel \
    python -m perflab build $programs --from "$archive"

echo "== documentation"
[ "${RELEASE_DOCS:-yes}" = no ] || {
    make --no-print-directory docs
    tar -C build/site -czf "$dist/psap-perf-$version-docs.tar.gz" .
}

echo "== install the wheel, and run it on the archive's programs"
PIP_CACHE_DIR=$(python -m pip cache dir) XDG_CACHE_HOME=$place/cache sh tests/scripts/installed.sh python3.11 "$dist/psap_perf-$version-py3-none-any.whl" "$dist/psap-perf-$version.cdx.json"

echo "== build the wheel from the sdist"
python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$place/again" "$dist/psap_perf-$version.tar.gz"
for wheel in "$dist" "$place/again"; do
    python -m zipfile --list "$wheel"/psap_perf-*.whl | awk '{ print $1 }' | LC_ALL=C sort >"$place/$(basename "$wheel").files"
done
diff "$place/$version.files" "$place/again.files"

echo "== install the collection"
mkdir "$place/home" "$place/project"
(
    cd "$place/project"
    cp "$project/ansible.cfg" .
    ansible-galaxy collection install --offline --no-deps -p collections "$dist/psap-perf-$version.tar.gz"
    HOME=$place/home ansible-playbook -i "collections/ansible_collections/psap/perf/inventories/local" \
        --list-tasks psap.perf.skeleton
)

(cd "$dist" && sha256sum ./* >SHA256SUMS)
[ -z "$tagged" ] || exit 0
# the published changelog has the fragments now
cp "$place/copy/ansible_collections/psap/perf/changelogs/changelog.yaml" $collection/changelogs/
rm -f $collection/changelogs/fragments/*.yaml
git add --all pyproject.toml $collection
git commit --quiet --message "Release $version"
git tag --annotate --message "psap.perf $version" "v$version"
echo "dist/$version has the files of release $version; the commit has the tag v$version. To publish it: docs/releasing.md"
