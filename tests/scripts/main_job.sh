#!/bin/sh
# The main job: start the lab, run the scale-test flow on it, stop the lab, print the path of the report.
set -eu
lab=main-job-$$
stop() { perflab down --name "$lab" >/dev/null; }
trap 'stop' EXIT
trap 'exit 130' INT TERM
perflab up --name "$lab" --nodes 100 --gpus 8
PERF_LAB=$lab perfdrv run scale_test --site lab --preset lab
