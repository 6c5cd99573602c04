#!/bin/sh
# fuzz.sh MINUTES [TARGET...] runs each given target of fuzz/, or all targets, for MINUTES with
# libFuzzer. For each target it prints the number of executions, the edges that the executions
# covered, and whether there is a finding. If there is a finding, the script fails. Inputs that
# reach new code are stored in build/fuzz/corpus, and the next run begins with them. Findings are
# stored in build/fuzz/findings.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

all=$(find fuzz -name '*.c' ! -name replay.c -exec basename {} .c ';' | sort | xargs)
usage() {
  echo "usage: scripts/fuzz.sh MINUTES [TARGET...]; targets: $all" >&2
  exit 2
}
case ${1-} in "" | 0* | *[!0-9]*) usage ;; esac
minutes=$1
shift
# shellcheck disable=SC2086 # a list
[ $# -gt 0 ] || set -- $all
for target in "$@"; do
  case " $all " in *" $target "*) ;; *) usage ;; esac
done

scripts/setup.sh build fuzz
cmake --preset fuzz >/dev/null
for target in "$@"; do
  cmake --build --preset fuzz --target "fuzz_$target" >/dev/null
done
rm -rf build/fuzz/seeds
python3 fuzz/seeds.py tests/vectors build/fuzz/seeds

failed=
for target in "$@"; do
  corpus=build/fuzz/corpus/$target findings=build/fuzz/findings/$target log=build/fuzz/$target.log
  mkdir -p "$corpus" "$findings"
  outcome="no finding"
  UBSAN_OPTIONS=print_stacktrace=1 "build/fuzz/fuzz/fuzz_$target" \
    -max_total_time=$((minutes * 60)) -max_len=16384 \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$findings/" \
    "$corpus" "build/fuzz/seeds/$target" "fuzz/regressions/$target" >"$log" 2>&1 ||
    outcome="a finding: see $log" failed=1
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  echo "$target: ${executions:-unknown} executions, ${edges:-unknown} edges covered, $outcome"
done
[ -z "$failed" ]
