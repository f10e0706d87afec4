#!/usr/bin/env bash
# stages.sh COMMAND…: run COMMAND, a test of many stages with thousands of lines, and repeat its failures at the end,
# because CI shows only the end.
set -o pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log" && exit
echo "== failures"
grep -E '^(FAILED|ERROR) |failed=[1-9]|make(\[[0-9]+\])?: \*\*\* \[' "$log"
exit 1
