#!/bin/sh
# Builds and runs the tests; with --all also with sanitizers, with clang, where char has no sign,
# and on other CPUs, which are played. The last line counts.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

[ -e /proc/self/fd ] ||
  { echo "test.sh: /proc is not mounted, and tests need it: mount -t proc proc /proc" >&2; exit 2; }
foreign=
skipped_presets=
case ${1-} in
  "") scripts/setup.sh test; presets="dev" ;;
  --all)
    scripts/setup.sh test-all
    presets="dev release asan tsan clang unsigned-char"
    foreign="arm64 s390x"
    ;;
  *) echo "usage: scripts/test.sh [--all]" >&2; exit 2 ;;
esac

# Every test prints TAP ("ok", "not ok", "# skip"), and ctest keeps what it printed.
count() { # NAME LOG...: "NAME: N passed, N failed, N skipped"
  awk -v name="$1" '
    BEGIN                      { ARGV[1] = "" }
    /^ok .*# [Ss][Kk][Ii][Pp]/ { skipped++; next }
    /^ok /                     { passed++ }
    /^not ok /                 { failed++ }
    END { printf "%s: %d passed, %d failed, %d skipped\n", name, passed, failed, skipped }' "$@"
}

log_of() { # PRESET
  echo "build/$1/Testing/Temporary/LastTest.log"
}

# What cannot be played here is one test, skipped. The machine itself need not be: all other presets
# are for it.
for preset in $foreign; do
  [ "$(dpkg --print-architecture 2>/dev/null)" != "$preset" ] || continue
  if said=$(scripts/setup.sh "$preset" 2>&1); then
    presets="$presets $preset"
  else
    skipped_presets="$skipped_presets $preset"
    mkdir -p "$(dirname "$(log_of "$preset")")"
    echo "ok - $preset # skip $(echo "$said" | tail -n 1)" >"$(log_of "$preset")"
  fi
done

failed_presets=
for preset in $presets; do
  rm -f "$(log_of "$preset")" # so that an old one is not counted if the build fails
  cmake --workflow --preset "$preset" || failed_presets="$failed_presets $preset"
done

logs=
for preset in $presets $skipped_presets; do
  log=$(log_of "$preset")
  if [ -f "$log" ]; then
    logs="$logs $log"
    sed -n "s/^ok - $preset # skip /$preset: cannot be set up: /p" "$log"
    count "$preset" "$log"
  fi
done
# shellcheck disable=SC2086 # a list
count total $logs /dev/null

if [ -n "$failed_presets" ]; then
  echo "failed:$failed_presets" >&2
  exit 1
fi
