#!/usr/bin/env bash
# stages.sh COMMAND…: run COMMAND, which is many stages of a test with thousands of lines, and say again at the end what
# failed, because CI shows the end only.
set -o pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log" && exit
echo "== what failed"
grep -E '^(FAILED|ERROR) |failed=[1-9]|make(\[[0-9]+\])?: \*\*\* \[' "$log"
exit 1
