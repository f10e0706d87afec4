#!/bin/sh
# sanity.sh: ansible-test sanity over a copy of the collection, on the Python of the environment. What it installs for its
# tests stays in .venv/ansible-test. Its test "import" imports each plugin without the Python packages that the
# collection needs, as on a host; the plugins run on the controller, for which these packages are declared.
set -eu
home=$PWD/.venv/ansible-test
mkdir -p "$home/.ansible/test/cache"
# ansible-test downloads pip's bootstrap script from its own server, which is unreachable if only PyPI is reachable: this
# script installs the same pip from PyPI
for version in 24.2 25.2; do
    cp tests/scripts/get_pip.py "$home/.ansible/test/cache/get_pip_$(echo $version | tr . _).py"
done
# not below the repository, whose .gitignore would hide all files from ansible-test
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
sh tests/scripts/copy_collection.sh "$copy"
cd "$copy/ansible_collections/psap/perf"
HOME=$home ansible-test sanity --requirements --skip-test import --color no \
    --python "$(python -c 'import sys; print("%d.%d" % sys.version_info[:2])')" "$@"
