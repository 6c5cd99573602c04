#!/bin/sh
# Builds and runs the tests; with --all also with sanitizers, with clang, on other CPUs, which
# are played, and of the Python package and DuckDB's extension. The last line counts.
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
    presets="dev release asan tsan clang"
    foreign="arm64 s390x"
    ;;
  *) echo "usage: scripts/test.sh [--all]" >&2; exit 2 ;;
esac

# Every test prints TAP ("ok", "not ok", "# skip"), and ctest keeps what it printed. One that fails
# without a "not ok" (a crash, a time limit, a program that is missing) is one failure more.
count() { # NAME PRESET...: "NAME: N passed, N failed, N skipped"
  name=$1
  shift
  for preset; do
    if [ -f "$(log_of "$preset")" ]; then cat "$(log_of "$preset")"; fi
    failed_tests "$preset" | sed 's/^/ctest failed /'
  done | awk -v name="$name" '
    /^[0-9]+\/[0-9]+ Testing: / { test = $3; told[test] = 0; next }
    /^ok .*# [Ss][Kk][Ii][Pp]/  { skipped++; next }
    /^ok /                      { passed++ }
    /^not ok /                  { failed++; told[test] = 1 }
    /^ctest failed /            { failed += !told[$3] }
    END { printf "%s: %d passed, %d failed, %d skipped\n", name, passed, failed, skipped }'
}

log_of() { # PRESET
  echo "build/$1/Testing/Temporary/LastTest.log"
}

failed_log_of() { # PRESET
  echo "build/$1/Testing/Temporary/LastTestsFailed.log"
}

failed_tests() { # PRESET: the names of ctest's tests that failed, a line each
  [ ! -f "$(failed_log_of "$1")" ] || sed 's/^[0-9]*://' "$(failed_log_of "$1")"
}

for preset in $presets $foreign python duckdb; do # old ones are not counted if the build fails
  rm -f "$(log_of "$preset")" "$(failed_log_of "$preset")"
done

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
  cmake --workflow --preset "$preset" || failed_presets="$failed_presets $preset"
done

for preset in $presets $skipped_presets; do
  log=$(log_of "$preset")
  if [ -f "$log" ]; then
    sed -n "s/^ok - $preset # skip /$preset: cannot be set up: /p" "$log"
    count "$preset" "$preset"
  fi
done
# What needs packages that Debian has not: each step is a script of its name. They download much, so
# they run side by side.
steps=
[ -z "$foreign" ] || steps="python duckdb"
for step in $steps; do
  mkdir -p "$(dirname "$(log_of "$step")")"
  {
    "scripts/$step.sh" "$(log_of "$step")" >"build/$step/output.log" 2>&1 ||
      touch "$(failed_log_of "$step")"
  } &
done
wait
for step in $steps; do
  cat "build/$step/output.log"
  [ ! -f "$(failed_log_of "$step")" ] || failed_presets="$failed_presets $step"
  sed -n "s/^ok - $step # skip /$step: skipped: /p" "$(log_of "$step")"
  count "$step" "$step"
done
# shellcheck disable=SC2086 # a list
count total $steps $presets $skipped_presets

for preset in $failed_presets; do
  { echo "failed: $preset"; failed_tests "$preset"; } | paste -sd ' ' >&2
done
[ -z "$failed_presets" ]
