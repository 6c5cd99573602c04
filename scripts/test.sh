#!/bin/sh
# Builds and runs the tests; with --all also with sanitizers, with clang and where char has no sign. The last line counts.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

[ -e /proc/self/fd ] || { echo "test.sh: /proc is not mounted, and tests need it: mount -t proc proc /proc" >&2; exit 2; }
case ${1-} in
  "") scripts/setup.sh test; presets="dev" ;;
  --all) scripts/setup.sh test-all; presets="dev release asan tsan clang unsigned-char" ;;
  *) echo "usage: scripts/test.sh [--all]" >&2; exit 2 ;;
esac

# Every test prints TAP ("ok", "not ok", "# skip"), and ctest keeps what it printed.
count() { # LOG...
  awk '
    /^ok .*# [Ss][Kk][Ii][Pp]/ { skipped++; next }
    /^ok /                     { passed++ }
    /^not ok /                 { failed++ }
    END { printf "%d %d %d\n", passed, failed, skipped }' "$@"
}

failed_presets=
for preset in $presets; do
  rm -f "build/$preset/Testing/Temporary/LastTest.log" # so that an old one is not counted if the build fails
  cmake --workflow --preset "$preset" || failed_presets="$failed_presets $preset"
done

logs=
for preset in $presets; do
  log=build/$preset/Testing/Temporary/LastTest.log
  if [ -f "$log" ]; then
    logs="$logs $log"
    count "$log" | { read -r passed failed skipped; echo "$preset: $passed passed, $failed failed, $skipped skipped"; }
  fi
done
# shellcheck disable=SC2086 # a list
count $logs /dev/null | { read -r passed failed skipped; echo "total: $passed passed, $failed failed, $skipped skipped"; }

if [ -n "$failed_presets" ]; then
  echo "failed:$failed_presets" >&2
  exit 1
fi
