#!/bin/sh
# builder.sh PROGRAM ARGUMENT…: run ansible-builder or ansible-navigator, which need their own packages and stay in
# .venv/builder.
set -eu
home=$PWD/.venv/builder
[ -x "$home/bin/ansible-navigator" ] || {
    python -m venv "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check 'ansible-builder==3.2.0' 'ansible-navigator>=25'
}
program=$1
shift
exec "$home/bin/$program" "$@"
