#!/bin/sh
# Debian's Chromium, when there is none yet.
set -eu
command -v chromium >/dev/null && exit 0
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
