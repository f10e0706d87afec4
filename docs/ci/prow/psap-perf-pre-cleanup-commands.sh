#!/bin/bash
set -o errexit -o nounset -o pipefail

cd "${PERF_PROJECT}"
read -r -a arguments <<<"${PERF_ARGUMENTS}"
# SIGTERM goes to the driver itself, which cleans up
exec perfdrv ci step pre_cleanup ${PERF_FLOW:+"${PERF_FLOW}"} "${arguments[@]}"
