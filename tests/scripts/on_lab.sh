#!/bin/sh
# on_lab.sh NAME OPTIONS COMMAND…: run COMMAND while a dedicated lab is up, started with OPTIONS of `perflab up` (one
# word, such as "--nodes 4"); PERF_LAB and KUBECONFIG name it.
set -eu
lab=$1-$$ options=$2
shift 2
stop() { perflab down --name "$lab" >/dev/null; }
trap 'stop' EXIT
trap 'exit 130' INT TERM
# shellcheck disable=SC2086  the options are several words
perflab up --name "$lab" $options
PERF_LAB=$lab KUBECONFIG=$(perflab kubeconfig --name "$lab")
PERF_RUNS_DIR=$(mktemp -d)
export PERF_LAB KUBECONFIG PERF_RUNS_DIR
trap 'stop; rm -rf "$PERF_RUNS_DIR"' EXIT
"$@"
