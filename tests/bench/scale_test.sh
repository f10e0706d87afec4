#!/bin/sh
# Print the figures of the scale test in one run on one lab, and the report's: sh tests/bench/scale_test.sh
# NODES, JOBS (of the large submission) and COUNT (of each round of the others) set its size.
set -eu
lab=figures-$$ count=${COUNT:-600}
trap 'perflab down --name "$lab" >/dev/null' EXIT
trap 'exit 130' INT TERM
perflab up --name "$lab" --nodes "${NODES:-1000}" --audit
export PERF_LAB="$lab"
bench() {
    printf '\n== %s\n' "$*"
    program=$1
    shift
    python "tests/bench/$program.py" "$@"
}
bench submit_rate --count "$count" --rounds 3
bench time_error --count "$count"
bench watch_overhead --count "$count" --rounds 2
bench scale_figures --jobs "${JOBS:-5000}" --connections 16
bench report_time --repeat 2
