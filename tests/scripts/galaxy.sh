#!/bin/sh
# galaxy.sh: build the collection as it is published, with READMEs and defaults of its roles and its changelog, into dist, and
# check it as Galaxy does on import. The importer, which requires older packages, stays in .venv/galaxy.
set -eu
project=$PWD home=$PWD/.venv/galaxy
[ -x "$home/bin/antsibull-changelog" ] || {
    python -m venv "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check 'galaxy-importer>=0.4.30' 'antsibull-changelog>=0.30'
}
sh tests/scripts/copy_collection.sh "$home/copy"
copy=$home/copy/ansible_collections/psap/perf
python -m docs.website.commands "$copy/roles"
PATH=$home/bin:$PATH
(cd "$copy" && antsibull-changelog release --update-existing --version "$(sed -n 's/^version: //p' galaxy.yml)")
ansible-galaxy collection build --force --output-path "$project/dist" "$copy"
cd "$home"
python -m galaxy_importer.main "$project"/dist/psap-perf-*.tar.gz | tee import.log
if grep -E '^(ERROR|WARNING)' import.log; then
    exit 1
fi
grep -q 'Importer processing completed successfully' import.log
