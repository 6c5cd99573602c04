#!/bin/sh
# download.sh COMMAND ARGUMENT... runs a command that downloads something. The command is stopped
# after five minutes, or at the time DOWNLOAD_UNTIL (in seconds since 1970) if this variable is set.
# The last line on standard error then says that it was stopped. pip, npm, Go and Maven store their
# downloads in build/downloads/, unless the environment names other folders. Cargo uses its usual
# folder, because that folder also contains Cargo's settings.
# SPDX-License-Identifier: MIT
set -eu
kept=$(cd "$(dirname "$0")/.." && pwd)/build/downloads
export PIP_CACHE_DIR="${PIP_CACHE_DIR-$kept/pip}"
export npm_config_cache="${npm_config_cache-${NPM_CONFIG_CACHE-$kept/npm}}"
export npm_config_prefer_offline=true # versions are fixed, so npm need not look for newer versions
export GOMODCACHE="${GOMODCACHE-$kept/go}"
export GOFLAGS="${GOFLAGS-} -modcacherw" # makes folders writable, so that rm -r build works
case "$1 ${MAVEN_OPTS-}" in
  *maven.repo.local=*) ;;
  mvn\ *) shift; set -- mvn "-Dmaven.repo.local=$kept/maven" "$@" ;;
esac

now=$(date +%s)
seconds=$((${DOWNLOAD_UNTIL:-$now + 300} - now))
status=124
[ "$seconds" -le 0 ] || { status=0; timeout --foreground -k 5 "$seconds" "$@" || status=$?; }
case $status in 124 | 137) echo "stopped because downloads took too long" >&2 ;; esac
exit "$status"
