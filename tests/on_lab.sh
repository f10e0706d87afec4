#!/bin/sh
# on_lab.sh NAME NODES COMMAND…: run COMMAND while a lab of its own is up; PERF_LAB and KUBECONFIG name it.
set -eu
lab=$1-$$ nodes=$2
shift 2
stop() { perflab down --name "$lab" >/dev/null; }
trap 'stop' EXIT
trap 'exit 130' INT TERM
perflab up --name "$lab" --nodes "$nodes"
PERF_LAB=$lab KUBECONFIG=$(perflab kubeconfig --name "$lab")
PERF_RUNS_DIR=$(mktemp -d)
export PERF_LAB KUBECONFIG PERF_RUNS_DIR
trap 'stop; rm -rf "$PERF_RUNS_DIR"' EXIT
"$@"
