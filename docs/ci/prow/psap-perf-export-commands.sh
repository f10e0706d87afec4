#!/bin/bash
set -o errexit -o nounset -o pipefail

cd "${PERF_PROJECT}"
read -r -a arguments <<<"${PERF_ARGUMENTS}"
# SIGTERM goes to the driver itself; an export that was interrupted is completed by another one
exec perfdrv ci step export ${PERF_FLOW:+"${PERF_FLOW}"} "${arguments[@]}"
