#!/bin/sh
# install_debian.sh PACKAGES PROGRAM…: install Debian's PACKAGES (one word, such as "maven default-jdk-headless") when a
# PROGRAM of them is missing. Concurrent stages of make test install one after the other.
set -eu
packages=$1
shift
exec 9>"${TMPDIR:-/tmp}/psap-perf-debian.lock"
flock 9
for program; do
    command -v "$program" >/dev/null || missing=$program
done
[ -n "${missing:-}" ] || exit 0
# users of CI's machines are not root
root=
[ "$(id -u)" = 0 ] || root=sudo
$root apt-get update -qq
# shellcheck disable=SC2086  the packages are several words
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
