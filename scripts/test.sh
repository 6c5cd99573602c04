#!/bin/sh
# test.sh [--presubmit|--all] [STEP...] builds and runs the tests. There are three rounds. Without
# an option, this runs the quick round. --presubmit runs the round that a change must pass before it
# lands. --all tries every case; it runs each night and before a release. If steps are named, only
# these steps of the round run. The last lines of the output name the slowest tests, the time of
# each step, and the numbers of tests.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

# The steps of each round. A step is the name of a preset, or of a script in this folder, which has
# no labels (-). After it come the minutes that the step may take on two idle cores, and the labels
# of the tests that it runs. Then come the labels of those of its tests that try all their cases,
# and an option of CMake. Labels are regular expressions; tests/CMakeLists.txt defines them. `setup'
# is no step: it installs packages first. Scripts run at the same time, so a round may take the
# minutes of setup, of its presets and of its longest script.
table() {
  cat <<'END'
quick     quick   1.5 computation|verbs ^$
presubmit setup   2 - -
presubmit asan    5 computation|files|parts|verbs|faults|fuzz|canary ^$
presubmit release 7 computation|files|command|faults|tree|install|bench ^$
presubmit tsan    2 threads|canary ^$
presubmit clang   2 computation|install ^$ -DLANEBLOOM_ENGINE_TESTS=OFF
presubmit arm64   3 computation|files|hosts ^$
presubmit s390x   2 computation|files|hosts ^$
presubmit python  2 - -
presubmit duckdb  2 - -
presubmit wasm    1.5 - -
all       setup   1 - -
all       dev     5 . ^$
all       release 12 . .
all       asan    10 . .
all       tsan    5 . ^$
all       clang   4 . ^$
all       arm64   6 . ^$
all       s390x   5 . ^$
all       python  10 - -
all       duckdb  5 - -
all       wasm    3 - -
all       platforms 8 - -
all       wheel-tests 12 - -
END
}

# column N STEP prints column N of the row that this step has in this round.
column() {
  table | awk -v round="$round" -v n="$1" -v step="$2" '$1 == round && $2 == step { print $n }'
}

usage() {
  echo "usage: scripts/test.sh [--presubmit|--all] [STEP...]" >&2
  exit 2
}

round=quick
packages="test"
option=
case ${1-} in
  --presubmit) round=presubmit packages=test-all; shift ;;
  --all) round=all packages=test-all option=--all; shift ;;
  -*) usage ;;
esac
for step; do
  case $step:$(column 2 "$step") in setup:* | *:) usage ;; esac
done
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(table | awk -v round=$round '$1 == round && $2 != "setup" { print $2 }')

[ -e /proc/self/fd ] ||
  { echo "test.sh: /proc is not mounted, and tests need it: mount -t proc proc /proc" >&2; exit 2; }

log_of() { # STEP
  echo "build/$1/Testing/Temporary/LastTest.log"
}

failed_log_of() { # STEP
  echo "build/$1/Testing/Temporary/LastTestsFailed.log"
}

failed_tests() { # STEP: the names of ctest's tests that failed, one per line
  [ ! -f "$(failed_log_of "$1")" ] || sed 's/^[0-9]*://' "$(failed_log_of "$1")"
}

# Counts the results in the output of tests, which ctest stores. Every test prints TAP ("ok", "not
# ok", "# skip"). A test that fails without a "not ok", because it crashes, takes too long or is
# missing, counts as one more failure.
count() { # NAME STEP...: "NAME: N passed, N failed, N skipped"
  name=$1
  shift
  for step; do
    if [ -f "$(log_of "$step")" ]; then cat "$(log_of "$step")"; fi
    failed_tests "$step" | sed 's/^/ctest failed /'
  done | awk -v name="$name" '
    /^[0-9]+\/[0-9]+ Testing: / { test = $3; told[test] = 0; next }
    /^ok .*# [Ss][Kk][Ii][Pp]/  { skipped++; next }
    /^ok /                      { passed++ }
    /^not ok /                  { failed++; told[test] = 1 }
    /^ctest failed /            { failed += !told[$3] }
    END { printf "%s: %d passed, %d failed, %d skipped\n", name, passed, failed, skipped }'
}

# Runs a part of a step, and appends a line "STEP PART SECONDS" with the time of the part to
# build/times.
timed() { # STEP PART COMMAND...
  what="$1 $2"
  begin=$(date +%s)
  shift 2
  result=0
  "$@" || result=$?
  echo "$what $(($(date +%s) - begin))" >>build/times
  return $result
}

skip() { # STEP REASON: counts the whole step as one skipped test
  echo "ok - $1 # skip $2" >"$(log_of "$1")"
}

# The steps release, python and duckdb compile the same library. If ccache is installed, they share
# its objects, so each file is compiled only once.
share_objects() { # STEP
  case $1 in
    release | python | duckdb) command -v ccache >/dev/null || return 0 ;;
    *) return 0 ;;
  esac
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_DIR="$PWD/build/ccache" CC=cc CMAKE_ARGS=-DCMAKE_COMPILE_WARNING_AS_ERROR=ON
}

# Runs a step that is a preset. Emulated CPUs need packages that not every machine can install; if
# they cannot be installed, the step is skipped. The architecture of this machine is not emulated.
run_preset() { # PRESET
  case $1 in
    arm64 | s390x)
      [ "$(dpkg --print-architecture 2>/dev/null)" != "$1" ] || return 0
      result=0
      said=$(timed "$1" packages scripts/setup.sh "$1" 2>&1) || result=$?
      [ $result != 3 ] || { skip "$1" "cannot be set up: $(echo "$said" | tail -n 1)"; return 0; }
      [ $result = 0 ] || { echo "$said" >&2; return 1; }
      ;;
  esac
  # shellcheck disable=SC2046 # no option is no argument
  timed "$1" build cmake --preset "$1" -DLANEBLOOM_EXHAUSTIVE_TESTS="$(column 5 "$1")" \
    $(column 6 "$1") &&
    timed "$1" build cmake --build --preset "$1" &&
    timed "$1" tests ctest --preset "$1" -L "$(column 4 "$1")"
}

run_script() { # STEP
  # shellcheck disable=SC2086 # no option is no argument
  timed "$1" tests "scripts/$1.sh" $option "$(log_of "$1")" >"build/$1/output.log" 2>&1 &&
    touch "build/$1/passed"
}

started=$(date +%s)
mkdir -p build
: >build/times
for step; do # old results must not be counted if the build fails
  mkdir -p "$(dirname "$(log_of "$step")")"
  rm -f "$(log_of "$step")" "$(failed_log_of "$step")" "build/$step/passed"
done
timed setup packages scripts/setup.sh "$packages"

# Runs the presets one after the other, and then all scripts at the same time. Scripts download
# packages that Debian does not have, so much of their time is waiting.
failed=
scripts=
for step; do
  if [ -f "scripts/$step.sh" ]; then
    scripts="$scripts $step"
  else
    (share_objects "$step" && run_preset "$step") || failed="$failed $step"
  fi
  [ "$step" != release ] || # for tests/engine/hosts.bats
    export LANEBLOOM_NATIVE="$PWD/build/release/cli/lanebloom"
done
for step in $scripts; do (share_objects "$step" && run_script "$step") & done
wait
for step in $scripts; do
  cat "build/$step/output.log" || true
  [ -f "build/$step/passed" ] || failed="$failed $step"
done
for step in $failed; do # a step may fail although no test of it failed
  grep -qs '^not ok ' "$(log_of "$step")" || [ -s "$(failed_log_of "$step")" ] ||
    echo "not ok - $step" >>"$(log_of "$step")"
done

echo "The slowest tests, in seconds:"
for step; do
  [ ! -f "$(log_of "$step")" ] || awk -v step="$step" '
    /^[0-9]+\/[0-9]+ Testing: / { test = $3 }
    /^Test time = / { printf "%8.1f  %-8s %s\n", $4, step, test }' "$(log_of "$step")"
done | sort -rn | head -n 10

echo "Times, in minutes:"
echo "total - $(($(date +%s) - started))" >>build/times
{ table | sed -n "s/^$round /budget /p"; cat build/times; } | awk '
  function minutes(seconds) { return sprintf("%d:%02d", seconds / 60, seconds % 60) }
  $1 == "budget" {
    budget[$2] = $3
    if ($2 == "setup" || $4 != "-")
      budget["total"] += $3
    else if ($3 > longest)
      longest = $3
    next
  }
  !($1 in seconds) { step[++n] = $1 }
  {
    seconds[$1] += $3
    parts[$1] = parts[$1] sprintf("  %s %s", $2, minutes($3))
  }
  END {
    budget["total"] += longest
    for (i = 1; i <= n; i++) {
      s = step[i]
      of = s in budget ? " of " minutes(60 * budget[s]) : ""
      printf "%8s  %s%s%s\n", minutes(seconds[s]), s, of, s == "total" ? "" : parts[s]
      if (s in budget && seconds[s] > 60 * budget[s])
        warnings = warnings sprintf("warning: %s took %s%s minutes\n", s, minutes(seconds[s]), of)
    }
    printf "%s", warnings # only a warning, because other programs may slow the machine
  }'

for step; do
  [ -f "$(log_of "$step")" ] || continue
  sed -n "s/^ok - $step # skip /$step: skipped: /p" "$(log_of "$step")"
  count "$step" "$step"
done
count total "$@"
for step in $failed; do
  { echo "failed: $step"; failed_tests "$step"; } | paste -sd ' ' >&2
done
[ -z "$failed" ]
