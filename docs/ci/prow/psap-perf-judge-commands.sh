#!/bin/bash
set -o errexit -o nounset -o pipefail

cd "${PERF_PROJECT}"
read -r -a arguments <<<"${PERF_ARGUMENTS}"
# SIGTERM goes to the driver itself; judging again adds nothing twice
exec perfdrv ci step judge ${PERF_FLOW:+"${PERF_FLOW}"} "${arguments[@]}"
