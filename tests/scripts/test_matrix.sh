#!/bin/sh
# test_matrix.sh [PYTHON-CORE…]: unit tests, settings, commands and the main job on each supported pair of Python and
# ansible-core whose Python is installed, or on the named pairs, such as 3.13-2.21. The environments are kept in
# .venv/matrix; a failed pair does not stop the others.
set -u
# ansible-core 2.20 and 2.21 need Python 3.12
[ $# -gt 0 ] || set -- 3.11-2.19 3.12-2.19 3.12-2.20 3.12-2.21 3.13-2.19 3.13-2.20 3.13-2.21

# on PATH, or among pyenv's versions
interpreter() {
    for candidate in "python$1" "$HOME"/.pyenv/versions/"$1".*/bin/python; do
        if "$candidate" -c 'import venv' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

# environment FOLDER PYTHON CORE: the community package's major is 7 less than core's minor
environment() {
    [ -e "$1/.made" ] && [ "$1/.made" -nt pyproject.toml ] && [ "$1/.made" -nt requirements/constraints.txt ] && return
    "$2" -m venv "$1" &&
        grep -v -E '^ansible(-core)?==' requirements/constraints.txt >"$1/constraints.txt" &&
        printf 'ansible-core==%s.*\nansible==%s.*\n' "$3" "$((${3#2.} - 7))" >>"$1/constraints.txt" &&
        "$1/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$1/constraints.txt" \
            --editable '.[collections,dev]' &&
        touch "$1/.made"
}

examine() {
    python -m pytest --quiet --numprocesses 2 tests/unit &&
        perfdrv settings check &&
        python -m pytest --quiet --numprocesses 2 tests/integration/settings tests/integration/commands &&
        perfdrv demo
}

bad=
for pair; do
    version=${pair%-*} core=${pair#*-}
    python=$(interpreter "$version")
    if [ -z "$python" ]; then
        echo "== Python $version with ansible-core $core: this Python is not installed"
        continue
    fi
    echo "== Python $version with ansible-core $core"
    folder=$PWD/.venv/matrix/$pair
    if ! environment "$folder" "$python" "$core" || ! (PATH=$folder/bin:$PATH && export PATH && examine); then
        bad="$bad $pair"
    fi
done
[ -z "$bad" ] || { echo "failed:$bad" >&2; exit 1; }
