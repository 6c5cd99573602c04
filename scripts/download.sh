#!/bin/sh
# Runs a command that downloads: download.sh COMMAND ARGUMENT... The command is stopped after five
# minutes, or at DOWNLOAD_UNTIL (seconds since 1970), and the last line on standard error says so.
# pip, npm, Go and Maven store their downloads in build/downloads/, unless the environment names
# another folder. Cargo uses its usual folder, which also has its settings.
# SPDX-License-Identifier: MIT
set -eu
kept=$(cd "$(dirname "$0")/.." && pwd)/build/downloads
export PIP_CACHE_DIR="${PIP_CACHE_DIR-$kept/pip}"
export npm_config_cache="${npm_config_cache-${NPM_CONFIG_CACHE-$kept/npm}}"
export npm_config_prefer_offline=true # versions are fixed
export GOMODCACHE="${GOMODCACHE-$kept/go}"
export GOFLAGS="${GOFLAGS-} -modcacherw" # otherwise rm -r build fails
case "$1 ${MAVEN_OPTS-}" in
  *maven.repo.local=*) ;;
  mvn\ *) shift; set -- mvn "-Dmaven.repo.local=$kept/maven" "$@" ;;
esac

now=$(date +%s)
seconds=$((${DOWNLOAD_UNTIL:-$now + 300} - now))
status=124
[ "$seconds" -le 0 ] || { status=0; timeout --foreground -k 5 "$seconds" "$@" || status=$?; }
case $status in 124 | 137) echo "stopped, because downloads took too long" >&2 ;; esac
exit "$status"
